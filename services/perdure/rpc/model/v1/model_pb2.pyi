import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MemoryType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_TYPE_UNSPECIFIED: _ClassVar[MemoryType]
    MEMORY_TYPE_FACT: _ClassVar[MemoryType]
    MEMORY_TYPE_DECISION: _ClassVar[MemoryType]
    MEMORY_TYPE_PREFERENCE: _ClassVar[MemoryType]
    MEMORY_TYPE_TASK: _ClassVar[MemoryType]
    MEMORY_TYPE_CONTEXT: _ClassVar[MemoryType]

class Provenance(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROVENANCE_UNSPECIFIED: _ClassVar[Provenance]
    PROVENANCE_SAVE: _ClassVar[Provenance]
    PROVENANCE_CHECKPOINT: _ClassVar[Provenance]
    PROVENANCE_DEBATE: _ClassVar[Provenance]
    PROVENANCE_HUMAN: _ClassVar[Provenance]
    PROVENANCE_CONSOLIDATION: _ClassVar[Provenance]
    PROVENANCE_IMPORT: _ClassVar[Provenance]

class Tier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_UNSPECIFIED: _ClassVar[Tier]
    TIER_REGULAR: _ClassVar[Tier]
    TIER_CORE: _ClassVar[Tier]

class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATUS_UNSPECIFIED: _ClassVar[Status]
    STATUS_ACTIVE: _ClassVar[Status]
    STATUS_ARCHIVED: _ClassVar[Status]
    STATUS_SUPERSEDED: _ClassVar[Status]
    STATUS_CONSOLIDATED: _ClassVar[Status]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_CREATED: _ClassVar[Outcome]
    OUTCOME_UNCHANGED: _ClassVar[Outcome]
    OUTCOME_MERGED: _ClassVar[Outcome]
    OUTCOME_REPLACED: _ClassVar[Outcome]
    OUTCOME_SUPERSEDED: _ClassVar[Outcome]

class Arm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ARM_UNSPECIFIED: _ClassVar[Arm]
    ARM_DENSE: _ClassVar[Arm]
    ARM_LEXICAL: _ClassVar[Arm]
    ARM_BOTH: _ClassVar[Arm]
    ARM_ASSOCIATION: _ClassVar[Arm]
MEMORY_TYPE_UNSPECIFIED: MemoryType
MEMORY_TYPE_FACT: MemoryType
MEMORY_TYPE_DECISION: MemoryType
MEMORY_TYPE_PREFERENCE: MemoryType
MEMORY_TYPE_TASK: MemoryType
MEMORY_TYPE_CONTEXT: MemoryType
PROVENANCE_UNSPECIFIED: Provenance
PROVENANCE_SAVE: Provenance
PROVENANCE_CHECKPOINT: Provenance
PROVENANCE_DEBATE: Provenance
PROVENANCE_HUMAN: Provenance
PROVENANCE_CONSOLIDATION: Provenance
PROVENANCE_IMPORT: Provenance
TIER_UNSPECIFIED: Tier
TIER_REGULAR: Tier
TIER_CORE: Tier
STATUS_UNSPECIFIED: Status
STATUS_ACTIVE: Status
STATUS_ARCHIVED: Status
STATUS_SUPERSEDED: Status
STATUS_CONSOLIDATED: Status
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_CREATED: Outcome
OUTCOME_UNCHANGED: Outcome
OUTCOME_MERGED: Outcome
OUTCOME_REPLACED: Outcome
OUTCOME_SUPERSEDED: Outcome
ARM_UNSPECIFIED: Arm
ARM_DENSE: Arm
ARM_LEXICAL: Arm
ARM_BOTH: Arm
ARM_ASSOCIATION: Arm

class Origin(_message.Message):
    __slots__ = ("host", "agent", "session", "actor")
    HOST_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    host: str
    agent: str
    session: str
    actor: str
    def __init__(self, host: _Optional[str] = ..., agent: _Optional[str] = ..., session: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class StringList(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, items: _Optional[_Iterable[str]] = ...) -> None: ...

class Draft(_message.Message):
    __slots__ = ("content", "type", "project", "key", "problem", "solution", "concepts", "files", "tags", "provenance", "confidence", "importance", "expires_at", "origin")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    SOLUTION_FIELD_NUMBER: _ClassVar[int]
    CONCEPTS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    content: str
    type: MemoryType
    project: str
    key: str
    problem: str
    solution: str
    concepts: _containers.RepeatedScalarFieldContainer[str]
    files: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    provenance: Provenance
    confidence: float
    importance: float
    expires_at: _timestamp_pb2.Timestamp
    origin: Origin
    def __init__(self, content: _Optional[str] = ..., type: _Optional[_Union[MemoryType, str]] = ..., project: _Optional[str] = ..., key: _Optional[str] = ..., problem: _Optional[str] = ..., solution: _Optional[str] = ..., concepts: _Optional[_Iterable[str]] = ..., files: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., provenance: _Optional[_Union[Provenance, str]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., origin: _Optional[_Union[Origin, _Mapping]] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("id", "namespace", "project", "key", "type", "content", "summary", "problem", "solution", "concepts", "files", "tags", "provenance", "confidence", "tier", "importance", "status", "access_count", "shown_count", "created_at", "updated_at", "last_accessed_at", "expires_at", "revision", "origin", "stub", "space", "supersedes", "superseded_by", "consolidated_from", "consolidated_into", "related")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    SOLUTION_FIELD_NUMBER: _ClassVar[int]
    CONCEPTS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ACCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    SHOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACCESSED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    STUB_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    CONSOLIDATED_FROM_FIELD_NUMBER: _ClassVar[int]
    CONSOLIDATED_INTO_FIELD_NUMBER: _ClassVar[int]
    RELATED_FIELD_NUMBER: _ClassVar[int]
    id: str
    namespace: str
    project: str
    key: str
    type: MemoryType
    content: str
    summary: str
    problem: str
    solution: str
    concepts: _containers.RepeatedScalarFieldContainer[str]
    files: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    provenance: Provenance
    confidence: float
    tier: Tier
    importance: float
    status: Status
    access_count: int
    shown_count: int
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    last_accessed_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    revision: int
    origin: Origin
    stub: str
    space: str
    supersedes: _containers.RepeatedScalarFieldContainer[str]
    superseded_by: str
    consolidated_from: _containers.RepeatedScalarFieldContainer[str]
    consolidated_into: str
    related: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., namespace: _Optional[str] = ..., project: _Optional[str] = ..., key: _Optional[str] = ..., type: _Optional[_Union[MemoryType, str]] = ..., content: _Optional[str] = ..., summary: _Optional[str] = ..., problem: _Optional[str] = ..., solution: _Optional[str] = ..., concepts: _Optional[_Iterable[str]] = ..., files: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., provenance: _Optional[_Union[Provenance, str]] = ..., confidence: _Optional[float] = ..., tier: _Optional[_Union[Tier, str]] = ..., importance: _Optional[float] = ..., status: _Optional[_Union[Status, str]] = ..., access_count: _Optional[int] = ..., shown_count: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_accessed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revision: _Optional[int] = ..., origin: _Optional[_Union[Origin, _Mapping]] = ..., stub: _Optional[str] = ..., space: _Optional[str] = ..., supersedes: _Optional[_Iterable[str]] = ..., superseded_by: _Optional[str] = ..., consolidated_from: _Optional[_Iterable[str]] = ..., consolidated_into: _Optional[str] = ..., related: _Optional[_Iterable[str]] = ...) -> None: ...

class Revision(_message.Message):
    __slots__ = ("revision", "at", "actor", "why", "before")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    revision: int
    at: _timestamp_pb2.Timestamp
    actor: str
    why: str
    before: Memory
    def __init__(self, revision: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., actor: _Optional[str] = ..., why: _Optional[str] = ..., before: _Optional[_Union[Memory, _Mapping]] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("projects", "types", "tags", "concepts", "files", "created_from", "created_to", "tiers", "statuses", "not_projects", "as_of", "keys")
    PROJECTS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    CONCEPTS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    CREATED_FROM_FIELD_NUMBER: _ClassVar[int]
    CREATED_TO_FIELD_NUMBER: _ClassVar[int]
    TIERS_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    NOT_PROJECTS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    projects: _containers.RepeatedScalarFieldContainer[str]
    types: _containers.RepeatedScalarFieldContainer[MemoryType]
    tags: _containers.RepeatedScalarFieldContainer[str]
    concepts: _containers.RepeatedScalarFieldContainer[str]
    files: _containers.RepeatedScalarFieldContainer[str]
    created_from: _timestamp_pb2.Timestamp
    created_to: _timestamp_pb2.Timestamp
    tiers: _containers.RepeatedScalarFieldContainer[Tier]
    statuses: _containers.RepeatedScalarFieldContainer[Status]
    not_projects: _containers.RepeatedScalarFieldContainer[str]
    as_of: _timestamp_pb2.Timestamp
    keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, projects: _Optional[_Iterable[str]] = ..., types: _Optional[_Iterable[_Union[MemoryType, str]]] = ..., tags: _Optional[_Iterable[str]] = ..., concepts: _Optional[_Iterable[str]] = ..., files: _Optional[_Iterable[str]] = ..., created_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tiers: _Optional[_Iterable[_Union[Tier, str]]] = ..., statuses: _Optional[_Iterable[_Union[Status, str]]] = ..., not_projects: _Optional[_Iterable[str]] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., keys: _Optional[_Iterable[str]] = ...) -> None: ...

class ErrorInfo(_message.Message):
    __slots__ = ("code", "reason", "message", "details", "retry_after_ms")
    class DetailsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    code: str
    reason: str
    message: str
    details: _containers.ScalarMap[str, str]
    retry_after_ms: int
    def __init__(self, code: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., details: _Optional[_Mapping[str, str]] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...
