"""Questions and answers, pages, briefings, counts, histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.domain.experience.learning import ItemKind
from perdure.domain.memory import Filter, Memory, Revision
from perdure.domain.recall.answer import (
    DEPTH_DEFAULT,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    Answer,
    Arm,
    Briefing,
    DenseSkip,
    Hit,
    ProcedureHit,
    Question,
    ScoreParts,
)
from perdure.ports import Page, Position, Stats
from perdure.rpc.model.v1 import model_pb2
from perdure.rpc.retrieval.v1 import memory_pb2 as pb
from perdure.wire.convert import fields
from perdure.wire.convert.cursor import cursor_of, position_of
from perdure.wire.convert.memory import (
    filter_from_proto,
    filter_to_proto,
    memories_from_proto,
    memory_from_proto,
    memory_to_proto,
    revision_from_proto,
    revision_to_proto,
)

ARMS = fields.Names(Arm, model_pb2.Arm.items(), "ARM")

PAGE_DEFAULT = 50
PAGE_MAX = 500
RECENT_DEFAULT = 10
RECENT_MAX = 50


def question_to_proto(question: Question) -> pb.SearchRequest:
    """The request that asks ``question``.

    Raises:
        InvalidArgument: depth or limit is out of range, or a time has no time zone.
    """
    return pb.SearchRequest(
        query=fields.text(question.query),
        project=fields.text(question.project or ""),
        depth=fields.whole(question.depth, "depth", 1, 3),
        limit=fields.whole(question.limit, "limit", 1, LIMIT_MAX),
        filter=filter_to_proto(question.filter),
        strict_project=question.strict_project,
        shown_only=question.shown_only,
        explain=question.explain,
        procedures=question.procedures,
    )


def question_from_proto(message: pb.SearchRequest) -> Question:
    """The question in ``message``; depth 0 is 2, limit 0 is 5, an empty project is the whole namespace.

    Raises:
        InvalidArgument: depth, limit or the filter is malformed.
    """
    return Question(
        query=message.query,
        project=message.project or None,
        depth=fields.whole(message.depth, "depth", 0, 3) or DEPTH_DEFAULT,
        limit=fields.whole(message.limit, "limit", 0, LIMIT_MAX) or LIMIT_DEFAULT,
        filter=filter_from_proto(message.filter),
        strict_project=message.strict_project,
        shown_only=message.shown_only,
        explain=message.explain,
        procedures=message.procedures,
    )


def _parts_to_proto(parts: ScoreParts) -> pb.ScoreParts:
    return pb.ScoreParts(
        similarity=parts.similarity or 0.0,
        has_similarity=parts.similarity is not None,
        bm25=parts.bm25,
        lexical_rank=parts.lexical_rank,
        relevance=parts.relevance,
        decay_weight=parts.decay_weight,
        frequency_boost=parts.frequency_boost,
        confidence_boost=parts.confidence_boost,
        importance_boost=parts.importance_boost,
    )


def _parts_from_proto(message: pb.ScoreParts) -> ScoreParts:
    return ScoreParts(
        similarity=fields.finite(message.similarity, "similarity") if message.has_similarity else None,
        bm25=fields.finite(message.bm25, "bm25"),
        lexical_rank=message.lexical_rank,
        relevance=fields.finite(message.relevance, "relevance"),
        decay_weight=fields.finite(message.decay_weight, "decay_weight"),
        frequency_boost=fields.finite(message.frequency_boost, "frequency_boost"),
        confidence_boost=fields.finite(message.confidence_boost, "confidence_boost"),
        importance_boost=fields.finite(message.importance_boost, "importance_boost"),
    )


def hit_to_proto(hit: Hit) -> pb.Hit:
    """The message of ``hit``."""
    return pb.Hit(
        memory=memory_to_proto(hit.memory),
        score=hit.score,
        arm=ARMS.number(hit.arm),  # type: ignore[arg-type]  # stubs want the enum's own type
        parts=_parts_to_proto(hit.parts),
        widened=hit.widened,
    )


def hit_from_proto(message: pb.Hit) -> Hit:
    """The hit in ``message``.

    Raises:
        InvalidArgument: its memory, arm, parts or score is missing or malformed.
    """
    fields.present(message, "memory")
    fields.present(message, "parts")
    return Hit(
        memory=memory_from_proto(message.memory),
        score=fields.finite(message.score, "score"),
        arm=ARMS.member(message.arm, "arm"),
        parts=_parts_from_proto(message.parts),
        widened=message.widened,
    )


def _procedure_to_proto(hit: ProcedureHit) -> pb.ProcedureHit:
    return pb.ProcedureHit(
        kind=hit.kind.value,
        id=hit.id,
        name=fields.text(hit.name),
        text=fields.text(hit.text),
        score=hit.score,
        place=hit.place,
        similarity=hit.similarity,
    )


def _procedure_from_proto(message: pb.ProcedureHit) -> ProcedureHit:
    return ProcedureHit(
        kind=fields.word(ItemKind, message.kind, "kind"),
        id=message.id,
        name=message.name,
        text=message.text,
        score=fields.finite(message.score, "score"),
        place=fields.whole(message.place, "place", 1),
        similarity=fields.finite(message.similarity, "similarity") if message.HasField("similarity") else None,
    )


def answer_to_proto(answer: Answer) -> pb.SearchResponse:
    """The message of ``answer``."""
    # a hit usually stands in both stages: it is converted once
    recognised = {id(hit): hit_to_proto(hit) for hit in answer.recognition}
    return pb.SearchResponse(
        stage=answer.stage,
        recognition=list(recognised.values()),
        recall=[recognised.get(id(hit)) or hit_to_proto(hit) for hit in answer.recall],
        associations=[hit_to_proto(hit) for hit in answer.associations],
        dense_ran=answer.dense_ran,
        lexical_ran=answer.lexical_ran,
        dense_skipped=answer.dense_skipped.value,
        unembedded=answer.unembedded,
        timings_ms=answer.timings_ms,
        model=answer.model or "",
        procedures=[_procedure_to_proto(hit) for hit in answer.procedures],
    )


def _known(message: pb.Hit, recognised: Mapping[str, tuple[pb.Hit, Hit]]) -> Hit:
    """The hit in ``message``, converted before where it stood in the first stage as it is."""
    before = recognised.get(message.memory.id)
    return before[1] if before is not None and before[0] == message else hit_from_proto(message)


def answer_from_proto(message: pb.SearchResponse) -> Answer:
    """The answer in ``message``.

    Raises:
        InvalidArgument: a part of it is malformed.
    """
    recognised = {hit.memory.id: (hit, hit_from_proto(hit)) for hit in message.recognition}
    return Answer(
        stage=fields.whole(message.stage, "stage", 1, 3),
        recognition=tuple(recognised[hit.memory.id][1] for hit in message.recognition),
        recall=tuple(_known(hit, recognised) for hit in message.recall),
        associations=tuple(hit_from_proto(hit) for hit in message.associations),
        dense_ran=message.dense_ran,
        lexical_ran=message.lexical_ran,
        dense_skipped=fields.word(DenseSkip, message.dense_skipped, "dense_skipped"),
        unembedded=fields.whole(message.unembedded, "unembedded", 0),
        timings_ms=dict(message.timings_ms),
        model=message.model or None,
        procedures=tuple(_procedure_from_proto(hit) for hit in message.procedures),
    )


def list_request(filter_: Filter, limit: int, cursor: str) -> pb.ListRequest:
    """The request for a page.

    Raises:
        InvalidArgument: ``limit`` is out of range, or a time has no time zone.
    """
    return pb.ListRequest(
        filter=filter_to_proto(filter_),
        limit=fields.whole(limit, "limit", 1, PAGE_MAX),
        cursor=fields.text(cursor),
    )


def list_from_request(request: pb.ListRequest) -> tuple[Filter, int, Position | None]:
    """Filter, limit (0 is 50) and where the page starts.

    Raises:
        InvalidArgument: the filter, limit or cursor is malformed.
    """
    limit = fields.whole(request.limit, "limit", 0, PAGE_MAX) or PAGE_DEFAULT
    return filter_from_proto(request.filter), limit, position_of(request.cursor)


def page_to_response(page: Page) -> pb.ListResponse:
    """The answer that holds ``page``."""
    return pb.ListResponse(
        memories=[memory_to_proto(memory) for memory in page.memories], next_cursor=cursor_of(page.next)
    )


def page_from_response(response: pb.ListResponse) -> tuple[tuple[Memory, ...], str]:
    """The memories of a page and the cursor of the next, empty on the last.

    Raises:
        InvalidArgument: a memory is malformed.
    """
    return memories_from_proto(response.memories), response.next_cursor


def sync_request(project: str | None, recent: int) -> pb.SyncRequest:
    """The request for a briefing.

    Raises:
        InvalidArgument: ``recent`` is out of range.
    """
    return pb.SyncRequest(project=fields.text(project or ""), recent=fields.whole(recent, "recent", 1, RECENT_MAX))


def sync_from_request(request: pb.SyncRequest) -> tuple[str | None, int]:
    """The project (None is every one) and how many recent memories are wanted (0 is 10).

    Raises:
        InvalidArgument: ``recent`` is out of range.
    """
    return request.project or None, fields.whole(request.recent, "recent", 0, RECENT_MAX) or RECENT_DEFAULT


def briefing_to_proto(briefing: Briefing) -> pb.SyncResponse:
    """The message of ``briefing``."""
    return pb.SyncResponse(
        active=briefing.active,
        projects=[
            pb.ProjectCount(project=fields.text(project), active=active)
            for project, active in briefing.projects.items()
        ],
        recent=[memory_to_proto(memory) for memory in briefing.recent],
        embedder=briefing.embedder,
        unembedded=briefing.unembedded,
    )


def briefing_from_proto(message: pb.SyncResponse) -> Briefing:
    """The briefing in ``message``, its projects in their order.

    Raises:
        InvalidArgument: a count or memory is malformed.
    """
    return Briefing(
        active=fields.whole(message.active, "active", 0),
        projects={count.project: fields.whole(count.active, "projects", 0) for count in message.projects},
        recent=memories_from_proto(message.recent),
        embedder=message.embedder,
        unembedded=fields.whole(message.unembedded, "unembedded", 0),
    )


def stats_to_proto(stats: Stats, *, space: str | None, store_bytes: int) -> pb.StatsResponse:
    """The message of ``stats``, the active space's fingerprint and the size of the store."""
    return pb.StatsResponse(
        active=stats.active,
        archived=stats.archived,
        superseded=stats.superseded,
        consolidated=stats.consolidated,
        total=stats.total,
        by_type=stats.by_type,
        by_project={fields.text(project): count for project, count in stats.by_project.items()},
        unembedded=stats.unembedded,
        space=space or "",
        store_bytes=store_bytes,
    )


def stats_from_proto(message: pb.StatsResponse) -> tuple[Stats, str, int]:
    """Counts, the space's fingerprint (empty before the first vector) and the store's bytes.

    Raises:
        InvalidArgument: a count is negative.
    """
    stats = Stats(
        active=fields.whole(message.active, "active", 0),
        archived=fields.whole(message.archived, "archived", 0),
        superseded=fields.whole(message.superseded, "superseded", 0),
        consolidated=fields.whole(message.consolidated, "consolidated", 0),
        by_type=dict(message.by_type),
        by_project=dict(message.by_project),
        unembedded=fields.whole(message.unembedded, "unembedded", 0),
    )
    return stats, message.space, message.store_bytes


def history_to_response(memory: Memory, revisions: Sequence[Revision]) -> pb.HistoryResponse:
    """The answer that holds a memory and its earlier states."""
    return pb.HistoryResponse(
        memory=memory_to_proto(memory), revisions=[revision_to_proto(revision) for revision in revisions]
    )


def history_from_response(response: pb.HistoryResponse) -> tuple[Memory, tuple[Revision, ...]]:
    """The memory and its earlier states, newest first.

    Raises:
        InvalidArgument: either is malformed.
    """
    fields.present(response, "memory")
    return memory_from_proto(response.memory), tuple(revision_from_proto(message) for message in response.revisions)
