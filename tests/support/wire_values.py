"""Hypothesis strategies for everything that crosses the wire: any value its type allows."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from perdure.domain.experience.learning import ItemKind
from perdure.domain.memory import (
    Filter,
    Memory,
    MemoryId,
    MemoryType,
    Origin,
    Provenance,
    Revision,
    Statement,
    Status,
    Tier,
)
from perdure.domain.namespace import NamespaceName
from perdure.domain.recall.answer import Answer, Arm, Briefing, DenseSkip, Hit, ProcedureHit, Question, ScoreParts
from perdure.domain.saving import Checkpoint, Draft, Edit, Failure, ImportProblem, ImportReport, Outcome, SaveResult
from perdure.domain.vectors import Space, Thresholds
from perdure.ports import AuditEvent, Job, JobKind, JobState, Namespace, Position, Stats, Token

texts = st.text(max_size=40)
names = st.text(min_size=1, max_size=20)
words = st.tuples() | st.lists(texts, max_size=3).map(tuple)
counts = st.integers(0, 2**63 - 1)
shares = st.floats(0.0, 1.0)
numbers = st.floats(allow_nan=False, allow_infinity=False)
memory_ids = st.uuids().map(lambda value: MemoryId(str(value)))
id_lists = st.lists(memory_ids, max_size=3).map(tuple)
namespaces = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,20}", fullmatch=True).map(NamespaceName)
zones = st.just(UTC) | st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours)))
times = st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31), timezones=zones)  # noqa: DTZ001 - given a zone


def maybe(values: st.SearchStrategy) -> st.SearchStrategy:  # type: ignore[type-arg]  # any kind of value
    return st.none() | values


origins = st.builds(Origin, host=texts, agent=texts, session=texts, actor=texts)
statements = st.builds(
    Statement,
    content=texts,
    type=st.sampled_from(MemoryType),
    project=names,
    key=maybe(texts),
    problem=maybe(texts),
    solution=maybe(texts),
    concepts=words,
    files=words,
    tags=words,
)
memories = st.builds(
    Memory,
    id=memory_ids,
    namespace=namespaces,
    statement=statements,
    summary=texts,
    provenance=st.sampled_from(Provenance),
    confidence=shares,
    tier=st.sampled_from(Tier),
    importance=shares,
    status=st.sampled_from(Status),
    created_at=times,
    updated_at=times,
    last_accessed_at=times,
    expires_at=maybe(times),
    access_count=counts,
    shown_count=counts,
    revision=st.integers(1, 2**40),
    origin=origins,
    stub=maybe(texts),
    space=maybe(texts),
    supersedes=id_lists,
    superseded_by=maybe(memory_ids),
    consolidated_from=id_lists,
    consolidated_into=maybe(memory_ids),
    related=id_lists,
)
revisions = st.builds(
    lambda before, **rest: Revision(memory=before.id, before=before, **rest),
    before=memories,
    revision=st.integers(1, 2**40),
    at=times,
    actor=texts,
    why=st.sampled_from(["merged", "updated", "archived"]),
)
filters = st.builds(
    Filter,
    projects=words,
    not_projects=words,
    keys=words,
    types=st.lists(st.sampled_from(MemoryType), max_size=3).map(tuple),
    tags=words,
    concepts=words,
    files=words,
    created_from=maybe(times),
    created_to=maybe(times),
    tiers=st.lists(st.sampled_from(Tier), max_size=2).map(tuple),
    statuses=st.lists(st.sampled_from(Status), min_size=1, max_size=4).map(tuple),
    as_of=maybe(times),
)
drafts = st.builds(
    Draft,
    statement=statements,
    provenance=st.sampled_from(Provenance),
    confidence=maybe(shares),
    importance=maybe(shares),
    expires_at=maybe(times),
    origin=origins,
)
checkpoints = st.builds(
    Checkpoint,
    task_summary=texts,
    problem=texts,
    solution=texts,
    files=words,
    concepts=words,
    project=names,
    tags=words,
    origin=origins,
    confidence=maybe(shares),
    importance=maybe(shares),
)
edits = st.builds(
    Edit,
    content=maybe(texts),
    type=maybe(st.sampled_from(MemoryType)),
    project=maybe(texts),
    key=maybe(texts),
    problem=maybe(texts),
    solution=maybe(texts),
    concepts=maybe(words),
    files=maybe(words),
    tags=maybe(words),
    provenance=maybe(st.sampled_from(Provenance)),
    confidence=maybe(shares),
    importance=maybe(shares),
    expires_at=maybe(times),
    clear=st.frozensets(st.sampled_from(["key", "problem", "solution", "expires_at"])),
    expected_revision=maybe(st.integers(1, 2**40)),
)
save_results = st.builds(
    SaveResult,
    outcome=st.sampled_from(Outcome),
    id=memory_ids,
    project=texts,
    summary=texts,
    revision=st.integers(1, 2**40),
    embedded=st.booleans(),
    superseded=id_lists,
    related=id_lists,
    truncated=st.booleans(),
    redacted=words,
    replayed=st.booleans(),
    nearest_similarity=maybe(st.floats(-1, 1)),
)
failures = st.builds(Failure, code=texts, reason=texts, message=texts)
questions = st.builds(
    Question,
    query=texts,
    project=maybe(names),
    depth=st.integers(1, 3),
    limit=st.integers(1, 50),
    filter=filters,
    strict_project=st.booleans(),
    shown_only=st.booleans(),
    explain=st.booleans(),
    procedures=st.booleans(),
)
score_parts = st.builds(
    ScoreParts,
    similarity=maybe(st.floats(-1, 1)),
    bm25=numbers,
    lexical_rank=st.integers(0, 50),
    relevance=shares,
    decay_weight=shares,
    frequency_boost=numbers,
    confidence_boost=numbers,
    importance_boost=numbers,
)
hits = st.builds(
    Hit, memory=memories, score=numbers, arm=st.sampled_from(Arm), parts=score_parts, widened=st.booleans()
)
hit_lists = st.lists(hits, max_size=2).map(tuple)
procedure_hits = st.builds(
    ProcedureHit,
    kind=st.sampled_from(ItemKind),
    id=names,
    name=texts,
    text=texts,
    score=numbers,
    place=st.integers(1, 50),
    similarity=maybe(st.floats(-1, 1)),
)
answers = st.builds(
    Answer,
    stage=st.integers(1, 3),
    recognition=hit_lists,
    recall=hit_lists,
    associations=hit_lists,
    dense_ran=st.booleans(),
    lexical_ran=st.booleans(),
    dense_skipped=st.sampled_from(DenseSkip),
    unembedded=counts,
    model=maybe(names),
    procedures=st.lists(procedure_hits, max_size=2).map(tuple),
    timings_ms=st.dictionaries(st.sampled_from(["dense", "lexical", "total"]), numbers),
)
briefings = st.builds(
    Briefing,
    active=counts,
    projects=st.dictionaries(names, counts, max_size=3),
    recent=st.lists(memories, max_size=2).map(tuple),
    embedder=st.sampled_from(["ready", "loading", "failing", "space_changed"]),
    unembedded=counts,
)
small_counts = st.integers(0, 2**40)
stats = st.builds(
    Stats,
    active=small_counts,
    archived=small_counts,
    superseded=small_counts,
    consolidated=small_counts,
    by_type=st.dictionaries(names, small_counts, max_size=3),
    by_project=st.dictionaries(names, small_counts, max_size=3),
    unembedded=small_counts,
)
problems = st.builds(ImportProblem, line=st.integers(1, 2**40), reason=texts, message=texts)
reports = st.builds(
    ImportReport,
    read=counts,
    created=counts,
    unchanged=counts,
    merged=counts,
    failed=counts,
    problems=st.lists(
        st.builds(ImportProblem, line=st.integers(1, 2**40), reason=texts, message=texts), max_size=3
    ).map(tuple),
    dry_run=st.booleans(),
)
jobs = st.builds(
    Job,
    id=names,
    kind=st.sampled_from(JobKind),
    state=st.sampled_from(JobState),
    created_at=times,
    parameters=st.dictionaries(names, texts, max_size=3),
    done=counts,
    total=counts,
    message=texts,
    error=texts,
    started_at=maybe(times),
    finished_at=maybe(times),
    attempts=st.integers(0, 1000),
    lease_owner=st.just(""),
    lease_until=st.none(),
    cancel_requested=st.booleans(),
)
listed_namespaces = st.builds(Namespace, name=namespaces, created_at=times, memories=counts)
tokens = st.builds(
    Token,
    id=names,
    namespace=namespaces,
    name=texts,
    secret_sha256=st.just(""),
    scopes=st.frozensets(st.sampled_from(["read", "write", "admin", "experience"])),
    created_at=times,
    expires_at=maybe(times),
    last_used_at=maybe(times),
    revoked_at=maybe(times),
)
events = st.builds(AuditEvent, at=times, actor=texts, namespace=namespaces, act=names, subject=texts)
positions = st.builds(Position, created_at=times, id=memory_ids)
spaces = st.builds(
    Space,
    provider=names,
    model=texts,
    dimension=st.integers(1, 8192),
    pooling=names,
    query_prefix=texts,
    document_prefix=texts,
    model_sha256=st.just("a" * 64),
    mean_sha256=st.just(""),
    layout=st.integers(1, 9),
    thresholds=st.builds(
        Thresholds,
        twin=st.floats(-1, 1),
        cluster=st.floats(-1, 1),
        interference=st.floats(-1, 1),
        floor=st.floats(-1, 1),
    ),
)


def a_memory(number: int = 1, content: str = "Postgres runs on port 5433.", namespace: str = "default") -> Memory:
    """An ordinary memory; the same each time."""
    now = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    return Memory(
        id=MemoryId(str(uuid.UUID(int=(7 << 76) | (2 << 62) | number))),
        namespace=NamespaceName(namespace),
        statement=Statement(content=content),
        summary=content,
        provenance=Provenance.SAVE,
        confidence=0.5,
        tier=Tier.REGULAR,
        importance=0.5,
        status=Status.ACTIVE,
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
    )


def a_space(dimension: int = 4, model: str = "m") -> Space:
    """An ordinary space."""
    return Space(
        provider="test",
        model=model,
        dimension=dimension,
        pooling="mean",
        query_prefix="",
        document_prefix="",
        model_sha256="",
        mean_sha256="",
        layout=1,
        thresholds=Thresholds(twin=0.92, cluster=0.8, interference=0.95, floor=math.sqrt(0.1)),
    )
