import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from perdure.rpc.model.v1 import model_pb2 as _model_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Job(_message.Message):
    __slots__ = ("id", "kind", "state", "done", "total", "message", "error", "created_at", "started_at", "finished_at", "attempts", "parameters", "cancel_requested")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    CANCEL_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    state: str
    done: int
    total: int
    message: str
    error: str
    created_at: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    attempts: int
    parameters: _containers.ScalarMap[str, str]
    cancel_requested: bool
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., state: _Optional[str] = ..., done: _Optional[int] = ..., total: _Optional[int] = ..., message: _Optional[str] = ..., error: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., attempts: _Optional[int] = ..., parameters: _Optional[_Mapping[str, str]] = ..., cancel_requested: _Optional[bool] = ...) -> None: ...

class StartJobRequest(_message.Message):
    __slots__ = ("kind", "parameters")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    kind: str
    parameters: _containers.ScalarMap[str, str]
    def __init__(self, kind: _Optional[str] = ..., parameters: _Optional[_Mapping[str, str]] = ...) -> None: ...

class StartJobResponse(_message.Message):
    __slots__ = ("job", "already_running")
    JOB_FIELD_NUMBER: _ClassVar[int]
    ALREADY_RUNNING_FIELD_NUMBER: _ClassVar[int]
    job: Job
    already_running: bool
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ..., already_running: _Optional[bool] = ...) -> None: ...

class ListJobsRequest(_message.Message):
    __slots__ = ("limit", "kind")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    limit: int
    kind: str
    def __init__(self, limit: _Optional[int] = ..., kind: _Optional[str] = ...) -> None: ...

class ListJobsResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ...) -> None: ...

class GetJobRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetJobResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class CancelJobRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class CancelJobResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("id", "namespace", "tasks", "trigger", "actor", "state", "created_at", "project", "dry_run", "began_at", "ended_at", "attempts", "done", "total", "saves", "message", "error", "counts", "plan", "undone_at", "undone_by")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    BEGAN_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    SAVES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    UNDONE_AT_FIELD_NUMBER: _ClassVar[int]
    UNDONE_BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    namespace: str
    tasks: _containers.RepeatedScalarFieldContainer[str]
    trigger: str
    actor: str
    state: str
    created_at: _timestamp_pb2.Timestamp
    project: str
    dry_run: bool
    began_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    attempts: int
    done: int
    total: int
    saves: int
    message: str
    error: str
    counts: _containers.ScalarMap[str, int]
    plan: _containers.RepeatedScalarFieldContainer[str]
    undone_at: _timestamp_pb2.Timestamp
    undone_by: str
    def __init__(self, id: _Optional[str] = ..., namespace: _Optional[str] = ..., tasks: _Optional[_Iterable[str]] = ..., trigger: _Optional[str] = ..., actor: _Optional[str] = ..., state: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., project: _Optional[str] = ..., dry_run: _Optional[bool] = ..., began_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., attempts: _Optional[int] = ..., done: _Optional[int] = ..., total: _Optional[int] = ..., saves: _Optional[int] = ..., message: _Optional[str] = ..., error: _Optional[str] = ..., counts: _Optional[_Mapping[str, int]] = ..., plan: _Optional[_Iterable[str]] = ..., undone_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., undone_by: _Optional[str] = ...) -> None: ...

class RunItem(_message.Message):
    __slots__ = ("memory", "act", "summary", "winner")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    WINNER_FIELD_NUMBER: _ClassVar[int]
    memory: str
    act: str
    summary: str
    winner: str
    def __init__(self, memory: _Optional[str] = ..., act: _Optional[str] = ..., summary: _Optional[str] = ..., winner: _Optional[str] = ...) -> None: ...

class ConsolidateRequest(_message.Message):
    __slots__ = ("project", "dry_run", "wait_ms")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    project: str
    dry_run: bool
    wait_ms: int
    def __init__(self, project: _Optional[str] = ..., dry_run: _Optional[bool] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class ConsolidateResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class CleanRequest(_message.Message):
    __slots__ = ("project", "dry_run", "wait_ms")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    project: str
    dry_run: bool
    wait_ms: int
    def __init__(self, project: _Optional[str] = ..., dry_run: _Optional[bool] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class CleanResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs",)
    RUNS_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run", "items")
    RUN_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    run: Run
    items: _containers.RepeatedCompositeFieldContainer[RunItem]
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ..., items: _Optional[_Iterable[_Union[RunItem, _Mapping]]] = ...) -> None: ...

class UndoRunRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class UndoRunResponse(_message.Message):
    __slots__ = ("run", "restored", "removed", "left")
    class LeftEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    RUN_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    run: Run
    restored: int
    removed: int
    left: _containers.ScalarMap[str, int]
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ..., restored: _Optional[int] = ..., removed: _Optional[int] = ..., left: _Optional[_Mapping[str, int]] = ...) -> None: ...

class LifecycleRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class LifecycleEvent(_message.Message):
    __slots__ = ("what", "at")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    what: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, what: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class LifecycleResponse(_message.Message):
    __slots__ = ("memory", "decay_weight", "frequency_boost", "confidence_boost", "importance_boost", "idle_days", "half_life_days", "events", "stays_because", "runs")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    DECAY_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_BOOST_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_BOOST_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_BOOST_FIELD_NUMBER: _ClassVar[int]
    IDLE_DAYS_FIELD_NUMBER: _ClassVar[int]
    HALF_LIFE_DAYS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    STAYS_BECAUSE_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    memory: _model_pb2.Memory
    decay_weight: float
    frequency_boost: float
    confidence_boost: float
    importance_boost: float
    idle_days: float
    half_life_days: float
    events: _containers.RepeatedCompositeFieldContainer[LifecycleEvent]
    stays_because: str
    runs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory: _Optional[_Union[_model_pb2.Memory, _Mapping]] = ..., decay_weight: _Optional[float] = ..., frequency_boost: _Optional[float] = ..., confidence_boost: _Optional[float] = ..., importance_boost: _Optional[float] = ..., idle_days: _Optional[float] = ..., half_life_days: _Optional[float] = ..., events: _Optional[_Iterable[_Union[LifecycleEvent, _Mapping]]] = ..., stays_because: _Optional[str] = ..., runs: _Optional[_Iterable[str]] = ...) -> None: ...

class CompactRequest(_message.Message):
    __slots__ = ("memories", "stub", "max_chars", "dry_run")
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    STUB_FIELD_NUMBER: _ClassVar[int]
    MAX_CHARS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedScalarFieldContainer[str]
    stub: str
    max_chars: int
    dry_run: bool
    def __init__(self, memories: _Optional[_Iterable[str]] = ..., stub: _Optional[str] = ..., max_chars: _Optional[int] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class CompactedMemory(_message.Message):
    __slots__ = ("id", "key", "stub", "bytes_saved")
    ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    STUB_FIELD_NUMBER: _ClassVar[int]
    BYTES_SAVED_FIELD_NUMBER: _ClassVar[int]
    id: str
    key: str
    stub: str
    bytes_saved: int
    def __init__(self, id: _Optional[str] = ..., key: _Optional[str] = ..., stub: _Optional[str] = ..., bytes_saved: _Optional[int] = ...) -> None: ...

class SkippedMemory(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CompactResponse(_message.Message):
    __slots__ = ("compacted", "skipped", "bytes_saved")
    COMPACTED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    BYTES_SAVED_FIELD_NUMBER: _ClassVar[int]
    compacted: _containers.RepeatedCompositeFieldContainer[CompactedMemory]
    skipped: _containers.RepeatedCompositeFieldContainer[SkippedMemory]
    bytes_saved: int
    def __init__(self, compacted: _Optional[_Iterable[_Union[CompactedMemory, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[SkippedMemory, _Mapping]]] = ..., bytes_saved: _Optional[int] = ...) -> None: ...

class FullText(_message.Message):
    __slots__ = ("name", "content")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    content: str
    def __init__(self, name: _Optional[str] = ..., content: _Optional[str] = ...) -> None: ...

class RestoreContentRequest(_message.Message):
    __slots__ = ("texts", "unstub")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    UNSTUB_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedCompositeFieldContainer[FullText]
    unstub: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, texts: _Optional[_Iterable[_Union[FullText, _Mapping]]] = ..., unstub: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreContentResponse(_message.Message):
    __slots__ = ("restored", "unmatched")
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    UNMATCHED_FIELD_NUMBER: _ClassVar[int]
    restored: _containers.RepeatedScalarFieldContainer[str]
    unmatched: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, restored: _Optional[_Iterable[str]] = ..., unmatched: _Optional[_Iterable[str]] = ...) -> None: ...

class RenderMemoryMdRequest(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: str
    def __init__(self, project: _Optional[str] = ...) -> None: ...

class RenderMemoryMdResponse(_message.Message):
    __slots__ = ("block", "memories")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    block: str
    memories: int
    def __init__(self, block: _Optional[str] = ..., memories: _Optional[int] = ...) -> None: ...

class EraseRequest(_message.Message):
    __slots__ = ("project", "confirm")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_FIELD_NUMBER: _ClassVar[int]
    project: str
    confirm: str
    def __init__(self, project: _Optional[str] = ..., confirm: _Optional[str] = ...) -> None: ...

class EraseResponse(_message.Message):
    __slots__ = ("erased",)
    ERASED_FIELD_NUMBER: _ClassVar[int]
    erased: int
    def __init__(self, erased: _Optional[int] = ...) -> None: ...
