"""Domain values as the JSON of REST: flat, optional keys absent when empty, times in ISO 8601 UTC.

Field names and shapes are NaN Forget's where it has them (docs/reference/rest.md); ours stand beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from perdure.domain.compaction.plan import content_lost
from perdure.domain.memory import Memory, Revision, Status
from perdure.domain.recall.answer import Answer, Arm, Briefing, DenseSkip, Hit, ProcedureHit, ScoreParts
from perdure.domain.saving import Failure, ImportReport, Outcome, SaveResult
from perdure.ports import Job, Stats

Json = dict[str, Any]

_SAME_MEMORY = frozenset({Outcome.UNCHANGED, Outcome.MERGED, Outcome.REPLACED})


def time_text(moment: datetime) -> str:
    """``moment`` in UTC, such as 2026-11-30T12:00:00.123456Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def counted(number: int, which: str = "") -> str:
    """Such as "1 memory" or "3 active memories"."""
    return f"{number} {which}{'memory' if number == 1 else 'memories'}"


def memory(value: Memory) -> Json:
    """Every field of a memory."""
    said = value.statement
    out: Json = {
        "id": value.id,
        "namespace": value.namespace,
        "project": said.project,
        "type": said.type.value,
        "content": said.content,
        "summary": value.summary,
        "provenance": value.provenance.value,
        "confidence": value.confidence,
        "tier": value.tier.value,
        "importance": value.importance,
        "status": value.status.value,
        "tags": list(said.tags),
        "concepts": list(said.concepts),
        "files": list(said.files),
        "access_count": value.access_count,
        "shown_count": value.shown_count,
        "revision": value.revision,
        "created_at": time_text(value.created_at),
        "updated_at": time_text(value.updated_at),
        "last_accessed_at": time_text(value.last_accessed_at),
    }
    origin = {name: text for name in ("host", "agent", "session", "actor") if (text := getattr(value.origin, name))}
    optional = {
        "key": said.key,
        "problem": said.problem,
        "solution": said.solution,
        "expires_at": time_text(value.expires_at) if value.expires_at else None,
        "origin": origin,
        "stub": value.stub,
        "content_lost": content_lost(value),
        "space": value.space,
        "supersedes": list(value.supersedes),
        "superseded_by": value.superseded_by,
        "consolidated_from": list(value.consolidated_from),
        "consolidated_into": value.consolidated_into,
        "related": list(value.related),
    }
    out.update({name: given for name, given in optional.items() if given})
    return out


def revision(value: Revision) -> Json:
    """An earlier state."""
    return {
        "revision": value.revision,
        "at": time_text(value.at),
        "actor": value.actor,
        "why": value.why,
        "before": memory(value.before),
    }


def saved(result: SaveResult) -> Json:
    """What a save did. ``deduplicated``: no new memory came of it; ``existing_id`` is then the one that was there."""
    same = result.outcome in _SAME_MEMORY
    out: Json = {"id": result.id, "deduplicated": same}
    if same:
        out["existing_id"] = result.id
    out |= {
        "outcome": result.outcome.value,
        "project": result.project,
        "summary": result.summary,
        "revision": result.revision,
        "embedded": result.embedded,
        "superseded": list(result.superseded),
        "related": list(result.related),
        "redacted": list(result.redacted),
        "truncated": result.truncated,
        "replayed": result.replayed,
    }
    if result.nearest_similarity is not None:
        out["nearest_similarity"] = round(result.nearest_similarity, 6)
    return out


def batch(results: Sequence[SaveResult | Failure]) -> Json:
    """One outcome each, in the order sent."""
    items: list[Json] = []
    failed = 0
    for index, result in enumerate(results):
        if isinstance(result, Failure):
            failed += 1
            error = {"code": result.code, "reason": result.reason, "detail": result.message}
            items.append({"index": index, "error": error})
        else:
            items.append({"index": index, **saved(result)})
    return {"results": items, "saved": len(items) - failed, "failed": failed}


def score_parts(value: ScoreParts) -> Json:
    """The factors of a score; ``similarity`` absent where there is no comparable vector."""
    out: Json = {
        "relevance": round(value.relevance, 6),
        "bm25": round(value.bm25, 6),
        "lexical_rank": value.lexical_rank,
        "decay_weight": round(value.decay_weight, 6),
        "frequency_boost": round(value.frequency_boost, 6),
        "confidence_boost": round(value.confidence_boost, 6),
        "importance_boost": round(value.importance_boost, 6),
    }
    if value.similarity is not None:
        out["similarity"] = round(value.similarity, 6)
    return out


def _scores(hit: Hit) -> Json:
    # as NaN Forget has it: score is how well it fits the query, adjusted_score what the order follows
    return {
        "score": round(hit.parts.relevance, 6),
        "adjusted_score": round(hit.score, 6),
        "arm": hit.arm.value,
        "widened": hit.widened,
        "parts": score_parts(hit.parts),
    }


def recognition_item(hit: Hit) -> Json:
    """A summary."""
    found = hit.memory
    out: Json = {
        "id": found.id,
        "summary": found.summary,
        "type": found.statement.type.value,
        "tags": list(found.statement.tags),
        "concepts": list(found.statement.concepts),
        "project": found.statement.project,
        "tier": found.tier.value,
        "confidence": found.confidence,
        **_scores(hit),
    }
    if found.statement.key:
        out["key"] = found.statement.key
    return out


def full_item(hit: Hit) -> Json:
    """A memory in full, of recall or association. The score of an association is its nearness to what was recalled."""
    found = hit.memory
    out: Json = {"id": found.id, "project": found.statement.project, "memory": memory(found), **_scores(hit)}
    if found.statement.key:
        out["key"] = found.statement.key
    if hit.arm is Arm.ASSOCIATION and hit.parts.similarity is not None:
        out["score"] = round(hit.parts.similarity, 6)
    return out


_SKIPPED = {
    DenseSkip.EMBEDDER_AWAY: "The embedding service did not answer, so only words were compared.",
    DenseSkip.SPACE_CHANGED: "The embedding model was changed, so only words were compared. Run `perdure reembed`.",
    DenseSkip.NO_VECTORS: "No memory has a vector yet, so only words were compared.",
}


def warnings(answer: Answer) -> list[str]:
    """What the reader of an answer must know about how it came to be."""
    out: list[str] = []
    if answer.dense_skipped is DenseSkip.NO_VECTORS and not answer.unembedded:
        return ["There are no memories here yet."]
    if not answer.dense_ran:
        out.append(_SKIPPED.get(answer.dense_skipped, "Only words were compared."))
    if answer.unembedded and answer.dense_skipped is not DenseSkip.NO_VECTORS:
        out.append(f"Still without a vector, found by words alone for now: {counted(answer.unembedded)}.")
    return out


def procedure_item(hit: ProcedureHit) -> Json:
    """A skill or an episode found beside memories."""
    out: Json = {
        "kind": hit.kind.value,
        "id": hit.id,
        "name": hit.name,
        "text": hit.text,
        "score": hit.score,
        "place": hit.place,
    }
    if hit.similarity is not None:
        out["similarity"] = hit.similarity
    return out


def search(answer: Answer, *, timings: bool = False) -> Json:
    """An answer with how it was found."""
    out: Json = {
        "stage": answer.stage,
        "recognition": [recognition_item(hit) for hit in answer.recognition],
        "recall": [full_item(hit) for hit in answer.recall],
        "associations": [full_item(hit) for hit in answer.associations],
        "match": bool(answer.recognition or answer.recall or answer.associations or answer.procedures),
        "dense_ran": answer.dense_ran,
        "lexical_ran": answer.lexical_ran,
        "dense_skipped": answer.dense_skipped.value,
        "warnings": warnings(answer),
    }
    if answer.model:
        out["model"] = answer.model
    if answer.procedures:
        out["procedures"] = [procedure_item(hit) for hit in answer.procedures]
    if timings:
        out["timings_ms"] = {part: round(ms, 3) for part, ms in answer.timings_ms.items()}
    return out


def briefing(value: Briefing) -> Json:
    """What a session needs to know when it starts."""
    ready = value.embedder == "ready"
    message = f"{counted(value.active, 'active ')}."
    if not ready:
        message += f" The embedder is {value.embedder.replace('_', ' ')}: memories are saved and found by words."
    elif value.unembedded:
        message += f" Still without a vector, found by words: {value.unembedded}."
    return {
        "status": "ready" if ready else "degraded",
        "active_memories": value.active,
        "projects": dict(value.projects),
        "message": message,
        "embedder": value.embedder,
        "unembedded": value.unembedded,
        "recent": [recent_item(item) for item in value.recent],
    }


def recent_item(value: Memory) -> Json:
    """A memory in one line."""
    out: Json = {
        "id": value.id,
        "summary": value.summary,
        "type": value.statement.type.value,
        "project": value.statement.project,
        "tier": value.tier.value,
        "created_at": time_text(value.created_at),
        "last_accessed_at": time_text(value.last_accessed_at),
    }
    if value.statement.key:
        out["key"] = value.statement.key
    return out


def stats(value: Stats, space: str, store_bytes: int | None) -> Json:
    """Counts of the namespace; the store's size only for those who run it."""
    out: Json = {
        Status.ACTIVE.value: value.active,
        Status.ARCHIVED.value: value.archived,
        Status.SUPERSEDED.value: value.superseded,
        Status.CONSOLIDATED.value: value.consolidated,
        "total": value.total,
        "by_type": dict(value.by_type),
        "by_project": dict(value.by_project),
        "unembedded": value.unembedded,
        "space": space,
    }
    if store_bytes is not None:
        out["store_bytes"] = store_bytes
    return out


def import_report(value: ImportReport) -> Json:
    """What an import did."""
    return {
        "read": value.read,
        "created": value.created,
        "unchanged": value.unchanged,
        "merged": value.merged,
        "failed": value.failed,
        "problems": [
            {"line": problem.line, "reason": problem.reason, "message": problem.message} for problem in value.problems
        ],
        "dry_run": value.dry_run,
    }


def job(value: Job) -> Json:
    """A job and how far it is."""
    out: Json = {
        "id": value.id,
        "kind": value.kind.value,
        "state": value.state.value,
        "created_at": time_text(value.created_at),
        "parameters": dict(value.parameters),
        "done": value.done,
        "total": value.total,
        "message": value.message,
        "attempts": value.attempts,
        "cancel_requested": value.cancel_requested,
    }
    for name in ("started_at", "finished_at"):
        if moment := getattr(value, name):
            out[name] = time_text(moment)
    if value.error:
        out["error"] = value.error
    return out
