"""The lifecycle as JSON. Members that are empty are left out where a client cannot miss them."""

from __future__ import annotations

from collections.abc import Callable

from perdure.domain.lifecycle import Compacted, Foreseen
from perdure.domain.runs import Run, RunItem, UndoReport
from perdure.gateway import present
from perdure.gateway.present import Json

Shown = Callable[[Run], Json]


def consolidated(done: Run) -> Json:
    """NaN Forget's answer, and the run."""
    names = ("clusters_found", "memories_consolidated", "new_memories_created", "duration_ms")
    return {**{name: done.counts.get(name, 0) for name in names}, "dry_run": done.dry_run, "run": run(done)}


def cleaned(done: Run) -> Json:
    """NaN Forget's answer, and the run. MEMORY.md is the client's own to write: never from here."""
    names = ("archived_decayed", "archived_expired", "archived_deduped", "duration_ms")
    return {
        **{name: done.counts.get(name, 0) for name in names},
        "memory_md_synced": False,
        "dry_run": done.dry_run,
        "run": run(done),
    }


def run(of: Run) -> Json:
    """A of."""
    out: Json = {
        "id": of.id,
        "tasks": [str(task) for task in of.tasks],
        "trigger": str(of.trigger),
        "actor": of.actor,
        "state": of.state,
        "created_at": present.time_text(of.created_at),
        "dry_run": of.dry_run,
        "attempts": of.attempts,
        "done": of.done,
        "total": of.total,
        "saves": of.saves,
        "message": of.message,
        "counts": dict(of.counts),
    }
    optional = {
        "project": of.project,
        "began_at": of.began_at and present.time_text(of.began_at),
        "ended_at": of.ended_at and present.time_text(of.ended_at),
        "error": of.error,
        "plan": list(of.plan),
        "undone_at": of.undone_at and present.time_text(of.undone_at),
        "undone_by": of.undone_by,
    }
    return out | {name: value for name, value in optional.items() if value}


def item(done: RunItem) -> Json:
    """What a run did to one memory."""
    out: Json = {"memory": done.memory, "act": str(done.act), "summary": done.summary}
    return out | ({"winner": done.winner} if done.winner else {})


def undone(done: Run, report: UndoReport) -> Json:
    """What an undo did."""
    return {
        "undone": done.id,
        "restored": report.restored,
        "removed": report.removed,
        "left": dict(report.left),
        "run": run(done),
    }


def foreseen(answer: Foreseen) -> Json:
    """What a memory weighs and what will happen to it."""
    future, memory = answer.future, answer.memory
    out: Json = {
        "id": memory.id,
        "memory": present.memory(memory),
        "decay_weight": future.weight,
        "frequency_boost": answer.frequency_boost,
        "confidence_boost": answer.confidence_boost,
        "importance_boost": answer.importance_boost,
        "weight": future.weight * answer.frequency_boost * answer.confidence_boost * answer.importance_boost,
        "idle_days": future.idle_days,
        "events": [{"what": str(event.what), "at": present.time_text(event.at)} for event in future.events],
        "runs": list(answer.runs),
    }
    if future.half_life_days is not None:
        out["half_life_days"] = future.half_life_days
    if future.stays_because:
        out["stays_because"] = future.stays_because
    return out


def compacted(done: Compacted, *, dry_run: bool) -> Json:
    """What was compacted, and why the rest was not."""
    return {
        "compacted": [
            {"id": item.id, "stub": item.stub, "bytes_saved": item.bytes_saved}
            | ({"key": item.key} if item.key else {})
            for item in done.compacted
        ],
        "skipped": [{"memory": item.name, "reason": item.reason} for item in done.skipped],
        "bytes_saved": done.bytes_saved,
        "dry_run": dry_run,
    }
