import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Screenshot(_message.Message):
    __slots__ = ("name", "sha256", "media_type", "bytes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    name: str
    sha256: str
    media_type: str
    bytes: int
    def __init__(self, name: _Optional[str] = ..., sha256: _Optional[str] = ..., media_type: _Optional[str] = ..., bytes: _Optional[int] = ...) -> None: ...

class SaveEpisodeRequest(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class SaveEpisodeResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class ListEpisodesRequest(_message.Message):
    __slots__ = ("limit", "cursor")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    limit: int
    cursor: str
    def __init__(self, limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListEpisodesResponse(_message.Message):
    __slots__ = ("documents", "next_cursor")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedScalarFieldContainer[str]
    next_cursor: str
    def __init__(self, documents: _Optional[_Iterable[str]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetEpisodeRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetEpisodeResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class ForgetEpisodeRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ForgetEpisodeResponse(_message.Message):
    __slots__ = ("forgotten",)
    FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    forgotten: bool
    def __init__(self, forgotten: _Optional[bool] = ...) -> None: ...

class PutScreenshotRequest(_message.Message):
    __slots__ = ("episode_id", "name", "data")
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    name: str
    data: bytes
    def __init__(self, episode_id: _Optional[str] = ..., name: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class PutScreenshotResponse(_message.Message):
    __slots__ = ("screenshot",)
    SCREENSHOT_FIELD_NUMBER: _ClassVar[int]
    screenshot: Screenshot
    def __init__(self, screenshot: _Optional[_Union[Screenshot, _Mapping]] = ...) -> None: ...

class ListScreenshotsRequest(_message.Message):
    __slots__ = ("episode_id",)
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    def __init__(self, episode_id: _Optional[str] = ...) -> None: ...

class ListScreenshotsResponse(_message.Message):
    __slots__ = ("screenshots",)
    SCREENSHOTS_FIELD_NUMBER: _ClassVar[int]
    screenshots: _containers.RepeatedCompositeFieldContainer[Screenshot]
    def __init__(self, screenshots: _Optional[_Iterable[_Union[Screenshot, _Mapping]]] = ...) -> None: ...

class GetScreenshotRequest(_message.Message):
    __slots__ = ("episode_id", "name")
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    name: str
    def __init__(self, episode_id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class GetScreenshotResponse(_message.Message):
    __slots__ = ("screenshot", "data")
    SCREENSHOT_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    screenshot: Screenshot
    data: bytes
    def __init__(self, screenshot: _Optional[_Union[Screenshot, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class PreviewSkillRequest(_message.Message):
    __slots__ = ("episode_id", "edits")
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    edits: str
    def __init__(self, episode_id: _Optional[str] = ..., edits: _Optional[str] = ...) -> None: ...

class PreviewSkillResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class CompileSkillRequest(_message.Message):
    __slots__ = ("episode_id", "edits")
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    edits: str
    def __init__(self, episode_id: _Optional[str] = ..., edits: _Optional[str] = ...) -> None: ...

class CompileSkillResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class ListSkillsRequest(_message.Message):
    __slots__ = ("limit", "cursor")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    limit: int
    cursor: str
    def __init__(self, limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListSkillsResponse(_message.Message):
    __slots__ = ("documents", "next_cursor")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedScalarFieldContainer[str]
    next_cursor: str
    def __init__(self, documents: _Optional[_Iterable[str]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetSkillRequest(_message.Message):
    __slots__ = ("id", "version")
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: int
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class GetSkillResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class ListSkillVersionsRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ListSkillVersionsResponse(_message.Message):
    __slots__ = ("documents",)
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, documents: _Optional[_Iterable[str]] = ...) -> None: ...

class DiffSkillRequest(_message.Message):
    __slots__ = ("id", "old_version", "new_version")
    ID_FIELD_NUMBER: _ClassVar[int]
    OLD_VERSION_FIELD_NUMBER: _ClassVar[int]
    NEW_VERSION_FIELD_NUMBER: _ClassVar[int]
    id: str
    old_version: int
    new_version: int
    def __init__(self, id: _Optional[str] = ..., old_version: _Optional[int] = ..., new_version: _Optional[int] = ...) -> None: ...

class DiffSkillResponse(_message.Message):
    __slots__ = ("lines",)
    LINES_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, lines: _Optional[_Iterable[str]] = ...) -> None: ...

class ForgetSkillRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ForgetSkillResponse(_message.Message):
    __slots__ = ("forgotten",)
    FORGOTTEN_FIELD_NUMBER: _ClassVar[int]
    forgotten: bool
    def __init__(self, forgotten: _Optional[bool] = ...) -> None: ...

class ScheduleSkillRequest(_message.Message):
    __slots__ = ("id", "routine")
    ID_FIELD_NUMBER: _ClassVar[int]
    ROUTINE_FIELD_NUMBER: _ClassVar[int]
    id: str
    routine: str
    def __init__(self, id: _Optional[str] = ..., routine: _Optional[str] = ...) -> None: ...

class ScheduleSkillResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class DueSkillsRequest(_message.Message):
    __slots__ = ("holder", "offset_minutes", "claim", "lease_s")
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_MINUTES_FIELD_NUMBER: _ClassVar[int]
    CLAIM_FIELD_NUMBER: _ClassVar[int]
    LEASE_S_FIELD_NUMBER: _ClassVar[int]
    holder: str
    offset_minutes: int
    claim: bool
    lease_s: int
    def __init__(self, holder: _Optional[str] = ..., offset_minutes: _Optional[int] = ..., claim: _Optional[bool] = ..., lease_s: _Optional[int] = ...) -> None: ...

class DueSkillsResponse(_message.Message):
    __slots__ = ("documents",)
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, documents: _Optional[_Iterable[str]] = ...) -> None: ...

class HeartbeatSkillRequest(_message.Message):
    __slots__ = ("id", "holder", "lease_s")
    ID_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    LEASE_S_FIELD_NUMBER: _ClassVar[int]
    id: str
    holder: str
    lease_s: int
    def __init__(self, id: _Optional[str] = ..., holder: _Optional[str] = ..., lease_s: _Optional[int] = ...) -> None: ...

class HeartbeatSkillResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class ReleaseSkillRequest(_message.Message):
    __slots__ = ("id", "holder")
    ID_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    id: str
    holder: str
    def __init__(self, id: _Optional[str] = ..., holder: _Optional[str] = ...) -> None: ...

class ReleaseSkillResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class SkillRecordsRequest(_message.Message):
    __slots__ = ("skill_id",)
    SKILL_ID_FIELD_NUMBER: _ClassVar[int]
    skill_id: str
    def __init__(self, skill_id: _Optional[str] = ...) -> None: ...

class FailingStep(_message.Message):
    __slots__ = ("step_id", "runs")
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    step_id: str
    runs: int
    def __init__(self, step_id: _Optional[str] = ..., runs: _Optional[int] = ...) -> None: ...

class SkillRecord(_message.Message):
    __slots__ = ("skill_id", "version", "name", "runs", "succeeded", "rate", "rate_low", "rate_high", "failing", "retire", "why", "cost_per_success")
    SKILL_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    RATE_LOW_FIELD_NUMBER: _ClassVar[int]
    RATE_HIGH_FIELD_NUMBER: _ClassVar[int]
    FAILING_FIELD_NUMBER: _ClassVar[int]
    RETIRE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    COST_PER_SUCCESS_FIELD_NUMBER: _ClassVar[int]
    skill_id: str
    version: int
    name: str
    runs: int
    succeeded: int
    rate: float
    rate_low: float
    rate_high: float
    failing: _containers.RepeatedCompositeFieldContainer[FailingStep]
    retire: bool
    why: str
    cost_per_success: float
    def __init__(self, skill_id: _Optional[str] = ..., version: _Optional[int] = ..., name: _Optional[str] = ..., runs: _Optional[int] = ..., succeeded: _Optional[int] = ..., rate: _Optional[float] = ..., rate_low: _Optional[float] = ..., rate_high: _Optional[float] = ..., failing: _Optional[_Iterable[_Union[FailingStep, _Mapping]]] = ..., retire: _Optional[bool] = ..., why: _Optional[str] = ..., cost_per_success: _Optional[float] = ...) -> None: ...

class SkillRecordsResponse(_message.Message):
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[SkillRecord]
    def __init__(self, records: _Optional[_Iterable[_Union[SkillRecord, _Mapping]]] = ...) -> None: ...

class StartRunRequest(_message.Message):
    __slots__ = ("skill_id", "trigger", "holder", "model")
    SKILL_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    skill_id: str
    trigger: str
    holder: str
    model: str
    def __init__(self, skill_id: _Optional[str] = ..., trigger: _Optional[str] = ..., holder: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class LogStepRequest(_message.Message):
    __slots__ = ("run_id", "idx", "step_id", "outcome", "detail")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    IDX_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    idx: int
    step_id: str
    outcome: str
    detail: str
    def __init__(self, run_id: _Optional[str] = ..., idx: _Optional[int] = ..., step_id: _Optional[str] = ..., outcome: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class LogStepResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class FinishRunRequest(_message.Message):
    __slots__ = ("run_id", "status", "error", "tokens", "cost", "model")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    status: str
    error: str
    tokens: int
    cost: float
    model: str
    def __init__(self, run_id: _Optional[str] = ..., status: _Optional[str] = ..., error: _Optional[str] = ..., tokens: _Optional[int] = ..., cost: _Optional[float] = ..., model: _Optional[str] = ...) -> None: ...

class FinishRunResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("skill_id", "limit", "cursor")
    SKILL_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    skill_id: str
    limit: int
    cursor: str
    def __init__(self, skill_id: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("documents", "next_cursor")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedScalarFieldContainer[str]
    next_cursor: str
    def __init__(self, documents: _Optional[_Iterable[str]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: str
    def __init__(self, document: _Optional[str] = ...) -> None: ...

class Adaptation(_message.Message):
    __slots__ = ("number", "version", "at", "learned", "passes", "loss", "pairs", "recall_before", "recall_after", "replay_before", "replay_after")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    LEARNED_FIELD_NUMBER: _ClassVar[int]
    PASSES_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    RECALL_BEFORE_FIELD_NUMBER: _ClassVar[int]
    RECALL_AFTER_FIELD_NUMBER: _ClassVar[int]
    REPLAY_BEFORE_FIELD_NUMBER: _ClassVar[int]
    REPLAY_AFTER_FIELD_NUMBER: _ClassVar[int]
    number: int
    version: str
    at: _timestamp_pb2.Timestamp
    learned: _containers.RepeatedScalarFieldContainer[str]
    passes: int
    loss: float
    pairs: int
    recall_before: float
    recall_after: float
    replay_before: float
    replay_after: float
    def __init__(self, number: _Optional[int] = ..., version: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., learned: _Optional[_Iterable[str]] = ..., passes: _Optional[int] = ..., loss: _Optional[float] = ..., pairs: _Optional[int] = ..., recall_before: _Optional[float] = ..., recall_after: _Optional[float] = ..., replay_before: _Optional[float] = ..., replay_after: _Optional[float] = ...) -> None: ...

class Day(_message.Message):
    __slots__ = ("day", "counts")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    DAY_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    day: str
    counts: _containers.ScalarMap[str, int]
    def __init__(self, day: _Optional[str] = ..., counts: _Optional[_Mapping[str, int]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("at", "what", "id", "name")
    AT_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    what: str
    id: str
    name: str
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., what: _Optional[str] = ..., id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class OverviewRequest(_message.Message):
    __slots__ = ("days", "offset_minutes")
    DAYS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_MINUTES_FIELD_NUMBER: _ClassVar[int]
    days: int
    offset_minutes: int
    def __init__(self, days: _Optional[int] = ..., offset_minutes: _Optional[int] = ...) -> None: ...

class OverviewResponse(_message.Message):
    __slots__ = ("model_version", "episodes", "skills", "runs", "approved", "denied", "learned", "pending", "adaptations", "days", "recent")
    class RunsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    LEARNED_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    ADAPTATIONS_FIELD_NUMBER: _ClassVar[int]
    DAYS_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    model_version: str
    episodes: int
    skills: int
    runs: _containers.ScalarMap[str, int]
    approved: int
    denied: int
    learned: int
    pending: int
    adaptations: _containers.RepeatedCompositeFieldContainer[Adaptation]
    days: _containers.RepeatedCompositeFieldContainer[Day]
    recent: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, model_version: _Optional[str] = ..., episodes: _Optional[int] = ..., skills: _Optional[int] = ..., runs: _Optional[_Mapping[str, int]] = ..., approved: _Optional[int] = ..., denied: _Optional[int] = ..., learned: _Optional[int] = ..., pending: _Optional[int] = ..., adaptations: _Optional[_Iterable[_Union[Adaptation, _Mapping]]] = ..., days: _Optional[_Iterable[_Union[Day, _Mapping]]] = ..., recent: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...

class ForgetAllRequest(_message.Message):
    __slots__ = ("confirm",)
    CONFIRM_FIELD_NUMBER: _ClassVar[int]
    confirm: bool
    def __init__(self, confirm: _Optional[bool] = ...) -> None: ...

class ForgetAllResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TrainRequest(_message.Message):
    __slots__ = ("dry_run", "curate", "wait_ms")
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    CURATE_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    dry_run: bool
    curate: bool
    wait_ms: int
    def __init__(self, dry_run: _Optional[bool] = ..., curate: _Optional[bool] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class LeftOut(_message.Message):
    __slots__ = ("kind", "id", "name", "reason", "like")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LIKE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    name: str
    reason: str
    like: str
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., reason: _Optional[str] = ..., like: _Optional[str] = ...) -> None: ...

class Training(_message.Message):
    __slots__ = ("status", "version", "pending", "learned", "left_out", "adaptation", "previous", "message", "job", "done", "total")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    LEARNED_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    ADAPTATION_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    status: str
    version: str
    pending: int
    learned: _containers.RepeatedScalarFieldContainer[str]
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOut]
    adaptation: Adaptation
    previous: str
    message: str
    job: str
    done: int
    total: int
    def __init__(self, status: _Optional[str] = ..., version: _Optional[str] = ..., pending: _Optional[int] = ..., learned: _Optional[_Iterable[str]] = ..., left_out: _Optional[_Iterable[_Union[LeftOut, _Mapping]]] = ..., adaptation: _Optional[_Union[Adaptation, _Mapping]] = ..., previous: _Optional[str] = ..., message: _Optional[str] = ..., job: _Optional[str] = ..., done: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...

class TrainResponse(_message.Message):
    __slots__ = ("training",)
    TRAINING_FIELD_NUMBER: _ClassVar[int]
    training: Training
    def __init__(self, training: _Optional[_Union[Training, _Mapping]] = ...) -> None: ...

class GetTrainingRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetTrainingResponse(_message.Message):
    __slots__ = ("training",)
    TRAINING_FIELD_NUMBER: _ClassVar[int]
    training: Training
    def __init__(self, training: _Optional[_Union[Training, _Mapping]] = ...) -> None: ...

class RollbackModelRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RollbackModelResponse(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class ExportExperienceRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ExportExperienceResponse(_message.Message):
    __slots__ = ("kind", "document")
    KIND_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    kind: str
    document: str
    def __init__(self, kind: _Optional[str] = ..., document: _Optional[str] = ...) -> None: ...

class ImportExperienceRequest(_message.Message):
    __slots__ = ("kind", "document", "dry_run")
    KIND_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    kind: str
    document: str
    dry_run: bool
    def __init__(self, kind: _Optional[str] = ..., document: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class ImportExperienceResponse(_message.Message):
    __slots__ = ("created", "unchanged", "problems")
    class CreatedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class UnchangedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    CREATED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    created: _containers.ScalarMap[str, int]
    unchanged: _containers.ScalarMap[str, int]
    problems: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, created: _Optional[_Mapping[str, int]] = ..., unchanged: _Optional[_Mapping[str, int]] = ..., problems: _Optional[_Iterable[str]] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("client", "day", "calls", "tokens_served", "tokens_whole")
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_SERVED_FIELD_NUMBER: _ClassVar[int]
    TOKENS_WHOLE_FIELD_NUMBER: _ClassVar[int]
    client: str
    day: str
    calls: int
    tokens_served: int
    tokens_whole: int
    def __init__(self, client: _Optional[str] = ..., day: _Optional[str] = ..., calls: _Optional[int] = ..., tokens_served: _Optional[int] = ..., tokens_whole: _Optional[int] = ...) -> None: ...

class RecordUsageRequest(_message.Message):
    __slots__ = ("client", "calls", "tokens_served")
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_SERVED_FIELD_NUMBER: _ClassVar[int]
    client: str
    calls: int
    tokens_served: int
    def __init__(self, client: _Optional[str] = ..., calls: _Optional[int] = ..., tokens_served: _Optional[int] = ...) -> None: ...

class RecordUsageResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReadUsageRequest(_message.Message):
    __slots__ = ("days",)
    DAYS_FIELD_NUMBER: _ClassVar[int]
    days: int
    def __init__(self, days: _Optional[int] = ...) -> None: ...

class ReadUsageResponse(_message.Message):
    __slots__ = ("usage",)
    USAGE_FIELD_NUMBER: _ClassVar[int]
    usage: _containers.RepeatedCompositeFieldContainer[Usage]
    def __init__(self, usage: _Optional[_Iterable[_Union[Usage, _Mapping]]] = ...) -> None: ...
