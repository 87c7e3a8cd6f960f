"""What the tools answer: text that reads well in every client, with stored text fenced as data.

An answer is capped (five memories and 500 characters each unless asked otherwise); what was cut is said, and how to
read the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.compaction.plan import content_lost
from perdure.domain.lifecycle import Compacted
from perdure.domain.memory import Memory, MemoryType, Revision, Status, Tier
from perdure.domain.recall.answer import Answer, Briefing, Hit, ProcedureHit
from perdure.domain.recall.budget import HIT_CHARS_DEFAULT, estimate_tokens, fit
from perdure.domain.runs import Run
from perdure.domain.saving import Outcome, SaveResult
from perdure.domain.text import cut
from perdure.gateway import present
from perdure.gateway.fencing import NOTICE, attribute, fenced
from perdure.ports import Stats

TOKENS_DEFAULT = 4_000
LEAST_CHARS = 80
TOKENS_OF_ONE = 12_000
"""A memory holds up to 32 KiB of content; more than this of one is read by asking for it."""

_FRAME_TOKENS = 100
"""Headings, the notice and a closing sentence around the blocks."""


def memory_facts(memory: Memory) -> dict[str, object]:
    """What a block says about a memory, besides its text."""
    said = memory.statement
    return {
        "id": memory.id,
        "date": memory.created_at.date().isoformat(),
        "project": said.project,
        "type": said.type.value,
        "provenance": memory.provenance.value,
        "tier": memory.tier.value if memory.tier is not Tier.REGULAR else None,
        "status": memory.status.value if memory.status is not Status.ACTIVE else None,
        "key": said.key,
        "tags": ", ".join(said.tags),
        "stub": "yes" if memory.stub else None,
        "content": "lost, re-verify before relying on it" if content_lost(memory) else None,
    }


def body_of(memory: Memory) -> list[str]:
    """The texts of a memory, in reading order."""
    said = memory.statement
    texts = [said.content]
    if said.problem:
        texts.append(f"Problem: {said.problem}")
    if said.solution:
        texts.append(f"Solution: {said.solution}")
    if said.files:
        texts.append(f"Files: {', '.join(said.files)}")
    if said.concepts:
        texts.append(f"Concepts: {', '.join(said.concepts)}")
    return texts


def block(word: str, memory: Memory, *, facts: Mapping[str, object] | None = None, chars: int | None = None) -> str:
    """A memory between its fences; ``chars`` caps its text."""
    shown = {**memory_facts(memory), **(facts or {})}
    whole = "\n".join(body_of(memory))
    if chars is None or len(whole) <= chars:
        return fenced(word, shown, [whole])
    return fenced(word, {**shown, "cut": f"{chars} of {len(whole)} characters"}, [cut(whole, chars)])


def summary_block(word: str, memory: Memory) -> str:
    """A memory's summary between its fences."""
    return fenced(word, memory_facts(memory), [memory.summary])


def _hit_facts(hit: Hit) -> dict[str, object]:
    return {
        **memory_facts(hit.memory),
        "score": f"{hit.score:.3f}",
        "other_project": "yes" if hit.widened else None,
    }


def found(answer: Answer, word: str, *, max_tokens: int | None, limit: int) -> str:
    """A search's answer.

    Args:
        answer: What was found.
        word: The fence's word.
        max_tokens: Cap of the whole answer in tokens; None is 4 000.
        limit: How many memories were asked for.
    """
    notes = [f"Note: {warning}" for warning in present.warnings(answer)]
    summary = answer.stage == 1
    main = answer.recognition if summary else answer.recall
    if not main and not answer.associations and not answer.procedures:
        return "\n".join(["No memory matches this query.", *notes])
    first = _fit(word, main[:limit], (max_tokens or TOKENS_DEFAULT) - _FRAME_TOKENS - 25 * len(notes), summary=summary)
    if main and not first.blocks:
        # long tags and keys alone can use up a small budget; the best one is shown all the same
        best = fenced(word, {"id": main[0].memory.id, "score": f"{main[0].score:.3f}"}, [main[0].memory.summary])
        first = _Fitting((best,), 0, shortened=True, omitted=len(main[:limit]) - 1)
    lines = [_heading(len(first.blocks), summary), NOTICE, "", "\n\n".join(first.blocks)]
    done = _procedures(word, answer.procedures, first.left)
    if done:
        lines += ["", "How it is done here:", "", "\n\n".join(done)]
        first = replace(first, left=first.left - sum(estimate_tokens(block) for block in done))
    near = _fit(word, answer.associations[:limit], first.left, summary=False)
    if near.blocks:
        lines += ["", "Related, not found by the query itself:", "", "\n\n".join(near.blocks)]
    tail = notes
    if summary:
        tail.append("These are summaries. Read one in full with memory_get and its id.")
    elif first.shortened or near.shortened:
        tail.append("Texts that end in '…' are cut: read one in full with memory_get and its id.")
    if omitted := first.omitted + near.omitted:
        tail.append(f"{omitted} more were left out to stay within max_tokens; ask with a larger one or narrower.")
    return "\n".join([*lines, *(["", *tail] if tail else [])])


PROCEDURES_MAX = 3


def _procedures(word: str, hits: Sequence[ProcedureHit], tokens: int) -> list[str]:
    """Skills and episodes between fences, cut, as many as fit."""
    blocks: list[str] = []
    for hit in hits[:PROCEDURES_MAX]:
        facts = {"kind": hit.kind.value, "id": hit.id, "score": f"{hit.score:.3f}"}
        block_ = fenced(word, facts, [cut(hit.text, HIT_CHARS_DEFAULT)])
        tokens -= estimate_tokens(block_)
        if tokens < 0:
            break
        blocks.append(block_)
    return blocks


def _heading(count: int, summary: bool) -> str:
    return f"{present.counted(count)} found{' (summaries)' if summary else ''}, best first."


@dataclass(frozen=True, slots=True)
class _Fitting:
    """Blocks within a budget: tokens left of it, whether a text was cut, how many were left out."""

    blocks: tuple[str, ...]
    left: int
    shortened: bool
    omitted: int


def _fit(word: str, hits: Sequence[Hit], tokens: int, *, summary: bool) -> _Fitting:
    frames = [fenced(word, _hit_facts(hit), [""]) for hit in hits]
    bodies = [hit.memory.summary if summary else "\n".join(body_of(hit.memory)) for hit in hits]
    overhead = max((estimate_tokens(frame) for frame in frames), default=0)
    fitted = fit(bodies, hits=len(hits), max_tokens=max(tokens, 0), overhead_tokens=overhead)
    blocks = tuple(fenced(word, _hit_facts(hit), [item.text]) for hit, item in zip(hits, fitted, strict=False))
    left = tokens - sum(estimate_tokens(block) for block in blocks)
    return _Fitting(blocks, left, any(item.shortened for item in fitted), len(hits) - len(blocks))


def one(memory: Memory, word: str, *, max_tokens: int | None) -> str:
    """A memory in full."""
    facts: dict[str, object] = {
        "updated": memory.updated_at.date().isoformat(),
        "confidence": f"{memory.confidence:.2f}",
        "importance": f"{memory.importance:.2f}",
        "revision": memory.revision,
        "expires": present.time_text(memory.expires_at) if memory.expires_at else None,
        "supersedes": ", ".join(memory.supersedes),
        "superseded_by": memory.superseded_by,
        "consolidated_into": memory.consolidated_into,
        "related": ", ".join(memory.related),
        "said_by": " ".join(part for part in (memory.origin.host, memory.origin.agent) if part),
    }
    tokens = max_tokens or TOKENS_OF_ONE
    text = block(word, memory, facts=facts)
    if (cost := estimate_tokens(text)) <= tokens:
        return "\n".join([NOTICE, "", text])
    whole = len("\n".join(body_of(memory)))
    text = block(word, memory, facts=facts, chars=max(LEAST_CHARS, whole * (tokens - 2 * _FRAME_TOKENS) // cost))
    return "\n".join([NOTICE, "", text, "", "Cut to max_tokens; ask with a larger one for the rest."])


def briefing(value: Briefing, word: str, *, project: str | None, max_tokens: int | None) -> str:
    """What a session needs to know."""
    count = value.projects.get(project, 0) if project else value.active
    where = f' in project "{attribute(project)}"' if project else ""
    lines = [f"Memory is ready: {present.counted(count, 'active ')}{where}."]
    if value.embedder != "ready":
        lines[0] = lines[0].replace("is ready", "works by words alone")
        lines.append(f"Note: the embedder is {value.embedder.replace('_', ' ')}.")
    if not project and value.projects:
        most = sorted(value.projects.items(), key=lambda item: (-item[1], item[0]))
        lines.append("Projects: " + ", ".join(f'"{attribute(name)}" ({number})' for name, number in most[:20]))
    if not value.recent:
        return "\n".join([*lines, "Nothing has been saved here yet. Save lasting facts with memory_save."])
    lines += ["Used or saved most recently, as summaries:", NOTICE, ""]
    tokens = (max_tokens or TOKENS_DEFAULT) - sum(estimate_tokens(line) for line in lines)
    blocks: list[str] = []
    for memory in value.recent:
        text = summary_block(word, memory)
        tokens -= estimate_tokens(text)
        if tokens < 0 and blocks:
            break
        blocks.append(text)
    lines += ["\n".join(blocks), "", "Find more with memory_search; read one in full with memory_get and its id."]
    return "\n".join(lines)


_DONE = {
    Outcome.CREATED: "Memory saved",
    Outcome.UNCHANGED: "Already known; nothing changed",
    Outcome.MERGED: "Merged into an existing memory",
    Outcome.REPLACED: "Replaced the memory of this key; the old text is in its history",
    Outcome.SUPERSEDED: "Memory saved; it supersedes an older one",
}


def saved(result: SaveResult, *, what: str = "Memory") -> str:
    """What a save did."""
    done = _DONE[result.outcome]
    if what != "Memory":
        done = done.replace("Memory", what, 1)
    lines = [f"{done}: {result.id}"]
    if result.superseded:
        lines.append(f"Superseded: {', '.join(result.superseded)}")
    if result.related:
        lines.append(
            f"Near ones that may say the same or the opposite: {', '.join(result.related)}. "
            "Check with memory_get; correct with memory_update or memory_archive."
        )
    if result.redacted:
        lines.append(f"Secrets were blanked before saving: {', '.join(result.redacted)}.")
    if not result.embedded:
        lines.append("It is found by words now, and by meaning as soon as its vector is made.")
    if result.truncated:
        lines.append(
            "The text is longer than the embedding model reads in one piece; shorter statements are found better."
        )
    if result.replayed:
        lines.append("This is the answer of an earlier call with the same idempotency key.")
    return "\n".join(lines)


def stats(value: Stats) -> str:
    """Counts."""
    lines = [
        f"Active {value.active}, archived {value.archived}, superseded {value.superseded}, "
        f"consolidated {value.consolidated}, total {value.total}.",
    ]
    if value.by_type:
        known = [name.value for name in MemoryType]
        order = sorted(value.by_type.items(), key=lambda item: known.index(item[0]) if item[0] in known else 99)
        lines.append("By type: " + ", ".join(f"{attribute(name)} {number}" for name, number in order))
    if value.by_project:
        most = sorted(value.by_project.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f'"{attribute(name)}" {number}' for name, number in most[:30])
        lines.append(f"By project: {shown}" + (f" and {len(most) - 30} more" if len(most) > 30 else ""))
    if value.unembedded:
        lines.append(f"Without a vector yet, found by words: {value.unembedded}.")
    return "\n".join(lines)


def page(memories: Sequence[Memory], cursor: str, word: str, *, max_tokens: int | None) -> str:
    """A page of summaries."""
    if not memories:
        return "No memories here."
    tokens = max_tokens or TOKENS_DEFAULT
    blocks: list[str] = []
    for memory in memories:
        text = summary_block(word, memory)
        tokens -= estimate_tokens(text)
        if tokens < 0 and blocks:
            break
        blocks.append(text)
    lines = [f"{present.counted(len(blocks))}, newest first, as summaries.", NOTICE, "", "\n".join(blocks)]
    if len(blocks) < len(memories):
        lines.append("\nSome were left out to stay within max_tokens; ask with a smaller limit.")
    elif cursor:
        lines.append(f"\nMore: call again with cursor {cursor}")
    return "\n".join(lines)


def past(memory: Memory, revisions: Sequence[Revision], word: str) -> str:
    """Earlier states, newest first."""
    if not revisions:
        return f"Memory {memory.id} was never changed; it is at revision {memory.revision}."
    lines = [f"{len(revisions)} earlier states, newest first; now at revision {memory.revision}.", NOTICE, ""]
    for item in revisions[:20]:
        facts: dict[str, object] = {
            "revision": item.revision,
            "until": present.time_text(item.at),
            "why": item.why,
            "by": item.actor,
        }
        lines.append(block(word, item.before, facts=facts, chars=HIT_CHARS_DEFAULT))
    if len(revisions) > 20:
        lines.append(f"{len(revisions) - 20} older ones are not shown.")
    return "\n".join(lines)


def ran(run: Run, word: str) -> str:
    """What a run did, or that it goes on."""
    if run.state == "failed":
        return f"The run failed: {run.error} Nothing is half done; it is tried again by itself. Run id: {run.id}"
    if not run.finished:
        return f"The run goes on in the background. Run id: {run.id}"
    lines = [f"{'Nothing was written. ' if run.dry_run else ''}Done: {run.message}. Run id: {run.id}"]
    lines += [f"{name.replace('_', ' ')}: {count}" for name, count in sorted(run.counts.items())]
    if run.plan:
        lines += ["", NOTICE, fenced(word, {"run": run.id}, run.plan)]
    return "\n".join(lines)


def compacted(done: Compacted, word: str, *, dry_run: bool) -> str:
    """Stubs to use in the context, and why the rest keeps its text."""
    would = "would be " if dry_run else ""
    lines = [f"{len(done.compacted)} {would}compacted, {done.bytes_saved} bytes saved. The texts stay in memory."]
    lines += [fenced(word, {"id": item.id, "key": item.key}, [item.stub]) for item in done.compacted]
    lines += [f"Skipped {attribute(item.name)}: {item.reason}" for item in done.skipped]
    return "\n".join(lines)


def texts_restored(restored: Sequence[str], unmatched: Sequence[str]) -> str:
    """Which texts came home."""
    lines = [f"{present.counted(len(restored))} restored.", *restored]
    if unmatched:
        names = ", ".join(attribute(name) or "(no name)" for name in unmatched)
        lines.append(f"Matched no memory that waits for its text: {names}.")
    return "\n".join(lines)
