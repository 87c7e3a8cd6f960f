import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from perdure.rpc.model.v1 import model_pb2 as _model_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SaveResult(_message.Message):
    __slots__ = ("outcome", "id", "superseded", "related", "embedded", "truncated", "redacted", "revision", "summary", "project", "replayed", "nearest_similarity")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    RELATED_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    NEAREST_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    outcome: _model_pb2.Outcome
    id: str
    superseded: _containers.RepeatedScalarFieldContainer[str]
    related: _containers.RepeatedScalarFieldContainer[str]
    embedded: bool
    truncated: bool
    redacted: _containers.RepeatedScalarFieldContainer[str]
    revision: int
    summary: str
    project: str
    replayed: bool
    nearest_similarity: float
    def __init__(self, outcome: _Optional[_Union[_model_pb2.Outcome, str]] = ..., id: _Optional[str] = ..., superseded: _Optional[_Iterable[str]] = ..., related: _Optional[_Iterable[str]] = ..., embedded: _Optional[bool] = ..., truncated: _Optional[bool] = ..., redacted: _Optional[_Iterable[str]] = ..., revision: _Optional[int] = ..., summary: _Optional[str] = ..., project: _Optional[str] = ..., replayed: _Optional[bool] = ..., nearest_similarity: _Optional[float] = ...) -> None: ...

class SaveRequest(_message.Message):
    __slots__ = ("draft", "idempotency_key")
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    draft: _model_pb2.Draft
    idempotency_key: str
    def __init__(self, draft: _Optional[_Union[_model_pb2.Draft, _Mapping]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SaveResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: SaveResult
    def __init__(self, result: _Optional[_Union[SaveResult, _Mapping]] = ...) -> None: ...

class SaveManyRequest(_message.Message):
    __slots__ = ("drafts", "idempotency_key")
    DRAFTS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    drafts: _containers.RepeatedCompositeFieldContainer[_model_pb2.Draft]
    idempotency_key: str
    def __init__(self, drafts: _Optional[_Iterable[_Union[_model_pb2.Draft, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ItemError(_message.Message):
    __slots__ = ("code", "reason", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    reason: str
    message: str
    def __init__(self, code: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class SaveManyItem(_message.Message):
    __slots__ = ("result", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: SaveResult
    error: ItemError
    def __init__(self, result: _Optional[_Union[SaveResult, _Mapping]] = ..., error: _Optional[_Union[ItemError, _Mapping]] = ...) -> None: ...

class SaveManyResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[SaveManyItem]
    def __init__(self, items: _Optional[_Iterable[_Union[SaveManyItem, _Mapping]]] = ...) -> None: ...

class CheckpointRequest(_message.Message):
    __slots__ = ("task_summary", "problem", "solution", "files", "concepts", "project", "tags", "origin", "idempotency_key", "confidence", "importance")
    TASK_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    SOLUTION_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    CONCEPTS_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    task_summary: str
    problem: str
    solution: str
    files: _containers.RepeatedScalarFieldContainer[str]
    concepts: _containers.RepeatedScalarFieldContainer[str]
    project: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    origin: _model_pb2.Origin
    idempotency_key: str
    confidence: float
    importance: float
    def __init__(self, task_summary: _Optional[str] = ..., problem: _Optional[str] = ..., solution: _Optional[str] = ..., files: _Optional[_Iterable[str]] = ..., concepts: _Optional[_Iterable[str]] = ..., project: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., origin: _Optional[_Union[_model_pb2.Origin, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ...) -> None: ...

class CheckpointResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: SaveResult
    def __init__(self, result: _Optional[_Union[SaveResult, _Mapping]] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("id", "peek")
    ID_FIELD_NUMBER: _ClassVar[int]
    PEEK_FIELD_NUMBER: _ClassVar[int]
    id: str
    peek: bool
    def __init__(self, id: _Optional[str] = ..., peek: _Optional[bool] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("memory",)
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("id", "content", "type", "project", "key", "problem", "solution", "concepts", "files", "tags", "confidence", "importance", "expires_at", "clear", "expected_revision", "provenance")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    SOLUTION_FIELD_NUMBER: _ClassVar[int]
    CONCEPTS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    id: str
    content: str
    type: _model_pb2.MemoryType
    project: str
    key: str
    problem: str
    solution: str
    concepts: _model_pb2.StringList
    files: _model_pb2.StringList
    tags: _model_pb2.StringList
    confidence: float
    importance: float
    expires_at: _timestamp_pb2.Timestamp
    clear: _containers.RepeatedScalarFieldContainer[str]
    expected_revision: int
    provenance: _model_pb2.Provenance
    def __init__(self, id: _Optional[str] = ..., content: _Optional[str] = ..., type: _Optional[_Union[_model_pb2.MemoryType, str]] = ..., project: _Optional[str] = ..., key: _Optional[str] = ..., problem: _Optional[str] = ..., solution: _Optional[str] = ..., concepts: _Optional[_Union[_model_pb2.StringList, _Mapping]] = ..., files: _Optional[_Union[_model_pb2.StringList, _Mapping]] = ..., tags: _Optional[_Union[_model_pb2.StringList, _Mapping]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., clear: _Optional[_Iterable[str]] = ..., expected_revision: _Optional[int] = ..., provenance: _Optional[_Union[_model_pb2.Provenance, str]] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("memory", "embedded", "redacted")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    embedded: bool
    redacted: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ..., embedded: _Optional[bool] = ..., redacted: _Optional[_Iterable[str]] = ...) -> None: ...

class ArchiveRequest(_message.Message):
    __slots__ = ("id", "expected_revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    id: str
    expected_revision: int
    def __init__(self, id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class ArchiveResponse(_message.Message):
    __slots__ = ("memory",)
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ...) -> None: ...

class RestoreRequest(_message.Message):
    __slots__ = ("id", "expected_revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    id: str
    expected_revision: int
    def __init__(self, id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class RestoreResponse(_message.Message):
    __slots__ = ("memory",)
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ...) -> None: ...

class PurgeRequest(_message.Message):
    __slots__ = ("id", "expected_revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    id: str
    expected_revision: int
    def __init__(self, id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class PurgeResponse(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("filter", "limit", "cursor")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    filter: _model_pb2.Filter
    limit: int
    cursor: str
    def __init__(self, filter: _Optional[_Union[_model_pb2.Filter, _Mapping]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("memories", "next_cursor")
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[_model_pb2.Memory]
    next_cursor: str
    def __init__(self, memories: _Optional[_Iterable[_Union[_model_pb2.Memory, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("query", "project", "depth", "limit", "filter", "strict_project", "shown_only", "explain", "procedures")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    STRICT_PROJECT_FIELD_NUMBER: _ClassVar[int]
    SHOWN_ONLY_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    query: str
    project: str
    depth: int
    limit: int
    filter: _model_pb2.Filter
    strict_project: bool
    shown_only: bool
    explain: bool
    procedures: bool
    def __init__(self, query: _Optional[str] = ..., project: _Optional[str] = ..., depth: _Optional[int] = ..., limit: _Optional[int] = ..., filter: _Optional[_Union[_model_pb2.Filter, _Mapping]] = ..., strict_project: _Optional[bool] = ..., shown_only: _Optional[bool] = ..., explain: _Optional[bool] = ..., procedures: _Optional[bool] = ...) -> None: ...

class ScoreParts(_message.Message):
    __slots__ = ("similarity", "has_similarity", "bm25", "lexical_rank", "relevance", "decay_weight", "frequency_boost", "confidence_boost", "importance_boost")
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    HAS_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    BM25_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_RANK_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    DECAY_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_BOOST_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_BOOST_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_BOOST_FIELD_NUMBER: _ClassVar[int]
    similarity: float
    has_similarity: bool
    bm25: float
    lexical_rank: int
    relevance: float
    decay_weight: float
    frequency_boost: float
    confidence_boost: float
    importance_boost: float
    def __init__(self, similarity: _Optional[float] = ..., has_similarity: _Optional[bool] = ..., bm25: _Optional[float] = ..., lexical_rank: _Optional[int] = ..., relevance: _Optional[float] = ..., decay_weight: _Optional[float] = ..., frequency_boost: _Optional[float] = ..., confidence_boost: _Optional[float] = ..., importance_boost: _Optional[float] = ...) -> None: ...

class ProcedureHit(_message.Message):
    __slots__ = ("kind", "id", "name", "text", "score", "place", "similarity")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    name: str
    text: str
    score: float
    place: int
    similarity: float
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., text: _Optional[str] = ..., score: _Optional[float] = ..., place: _Optional[int] = ..., similarity: _Optional[float] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("memory", "score", "arm", "parts", "widened")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    ARM_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    WIDENED_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    score: float
    arm: _model_pb2.Arm
    parts: ScoreParts
    widened: bool
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ..., score: _Optional[float] = ..., arm: _Optional[_Union[_model_pb2.Arm, str]] = ..., parts: _Optional[_Union[ScoreParts, _Mapping]] = ..., widened: _Optional[bool] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("stage", "recognition", "recall", "associations", "dense_ran", "lexical_ran", "dense_skipped", "unembedded", "timings_ms", "model", "procedures")
    class TimingsMsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    STAGE_FIELD_NUMBER: _ClassVar[int]
    RECOGNITION_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    ASSOCIATIONS_FIELD_NUMBER: _ClassVar[int]
    DENSE_RAN_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_RAN_FIELD_NUMBER: _ClassVar[int]
    DENSE_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    UNEMBEDDED_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_MS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    stage: int
    recognition: _containers.RepeatedCompositeFieldContainer[Hit]
    recall: _containers.RepeatedCompositeFieldContainer[Hit]
    associations: _containers.RepeatedCompositeFieldContainer[Hit]
    dense_ran: bool
    lexical_ran: bool
    dense_skipped: str
    unembedded: int
    timings_ms: _containers.ScalarMap[str, float]
    model: str
    procedures: _containers.RepeatedCompositeFieldContainer[ProcedureHit]
    def __init__(self, stage: _Optional[int] = ..., recognition: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., recall: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., associations: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., dense_ran: _Optional[bool] = ..., lexical_ran: _Optional[bool] = ..., dense_skipped: _Optional[str] = ..., unembedded: _Optional[int] = ..., timings_ms: _Optional[_Mapping[str, float]] = ..., model: _Optional[str] = ..., procedures: _Optional[_Iterable[_Union[ProcedureHit, _Mapping]]] = ...) -> None: ...

class SyncRequest(_message.Message):
    __slots__ = ("project", "recent")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    project: str
    recent: int
    def __init__(self, project: _Optional[str] = ..., recent: _Optional[int] = ...) -> None: ...

class ProjectCount(_message.Message):
    __slots__ = ("project", "active")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    project: str
    active: int
    def __init__(self, project: _Optional[str] = ..., active: _Optional[int] = ...) -> None: ...

class SyncResponse(_message.Message):
    __slots__ = ("active", "projects", "recent", "embedder", "unembedded")
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    PROJECTS_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDER_FIELD_NUMBER: _ClassVar[int]
    UNEMBEDDED_FIELD_NUMBER: _ClassVar[int]
    active: int
    projects: _containers.RepeatedCompositeFieldContainer[ProjectCount]
    recent: _containers.RepeatedCompositeFieldContainer[_model_pb2.Memory]
    embedder: str
    unembedded: int
    def __init__(self, active: _Optional[int] = ..., projects: _Optional[_Iterable[_Union[ProjectCount, _Mapping]]] = ..., recent: _Optional[_Iterable[_Union[_model_pb2.Memory, _Mapping]]] = ..., embedder: _Optional[str] = ..., unembedded: _Optional[int] = ...) -> None: ...

class StatsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StatsResponse(_message.Message):
    __slots__ = ("active", "archived", "superseded", "consolidated", "total", "by_type", "by_project", "unembedded", "space", "store_bytes")
    class ByTypeEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class ByProjectEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    CONSOLIDATED_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    BY_PROJECT_FIELD_NUMBER: _ClassVar[int]
    UNEMBEDDED_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    STORE_BYTES_FIELD_NUMBER: _ClassVar[int]
    active: int
    archived: int
    superseded: int
    consolidated: int
    total: int
    by_type: _containers.ScalarMap[str, int]
    by_project: _containers.ScalarMap[str, int]
    unembedded: int
    space: str
    store_bytes: int
    def __init__(self, active: _Optional[int] = ..., archived: _Optional[int] = ..., superseded: _Optional[int] = ..., consolidated: _Optional[int] = ..., total: _Optional[int] = ..., by_type: _Optional[_Mapping[str, int]] = ..., by_project: _Optional[_Mapping[str, int]] = ..., unembedded: _Optional[int] = ..., space: _Optional[str] = ..., store_bytes: _Optional[int] = ...) -> None: ...

class HistoryRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class HistoryResponse(_message.Message):
    __slots__ = ("memory", "revisions")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    revisions: _containers.RepeatedCompositeFieldContainer[_model_pb2.Revision]
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ..., revisions: _Optional[_Iterable[_Union[_model_pb2.Revision, _Mapping]]] = ...) -> None: ...

class ExportRequest(_message.Message):
    __slots__ = ("filter", "without_history", "every_status")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_HISTORY_FIELD_NUMBER: _ClassVar[int]
    EVERY_STATUS_FIELD_NUMBER: _ClassVar[int]
    filter: _model_pb2.Filter
    without_history: bool
    every_status: bool
    def __init__(self, filter: _Optional[_Union[_model_pb2.Filter, _Mapping]] = ..., without_history: _Optional[bool] = ..., every_status: _Optional[bool] = ...) -> None: ...

class ExportResponse(_message.Message):
    __slots__ = ("memory", "revisions")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    revisions: _containers.RepeatedCompositeFieldContainer[_model_pb2.Revision]
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ..., revisions: _Optional[_Iterable[_Union[_model_pb2.Revision, _Mapping]]] = ...) -> None: ...

class ImportRequest(_message.Message):
    __slots__ = ("memory", "revisions", "dry_run")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    revisions: _containers.RepeatedCompositeFieldContainer[_model_pb2.Revision]
    dry_run: bool
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ..., revisions: _Optional[_Iterable[_Union[_model_pb2.Revision, _Mapping]]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class ImportProblem(_message.Message):
    __slots__ = ("line", "reason", "message")
    LINE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    line: int
    reason: str
    message: str
    def __init__(self, line: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ImportResponse(_message.Message):
    __slots__ = ("read", "created", "unchanged", "merged", "failed", "problems", "dry_run")
    READ_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    MERGED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    read: int
    created: int
    unchanged: int
    merged: int
    failed: int
    problems: _containers.RepeatedCompositeFieldContainer[ImportProblem]
    dry_run: bool
    def __init__(self, read: _Optional[int] = ..., created: _Optional[int] = ..., unchanged: _Optional[int] = ..., merged: _Optional[int] = ..., failed: _Optional[int] = ..., problems: _Optional[_Iterable[_Union[ImportProblem, _Mapping]]] = ..., dry_run: _Optional[bool] = ...) -> None: ...
