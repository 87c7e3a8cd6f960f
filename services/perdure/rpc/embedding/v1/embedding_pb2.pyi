from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TextKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEXT_KIND_UNSPECIFIED: _ClassVar[TextKind]
    TEXT_KIND_DOCUMENT: _ClassVar[TextKind]
    TEXT_KIND_QUERY: _ClassVar[TextKind]
TEXT_KIND_UNSPECIFIED: TextKind
TEXT_KIND_DOCUMENT: TextKind
TEXT_KIND_QUERY: TextKind

class Space(_message.Message):
    __slots__ = ("fingerprint", "provider", "model", "dimension", "pooling", "query_prefix", "document_prefix", "model_sha256", "mean_sha256", "layout", "twin", "cluster", "interference", "floor")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    POOLING_FIELD_NUMBER: _ClassVar[int]
    QUERY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_PREFIX_FIELD_NUMBER: _ClassVar[int]
    MODEL_SHA256_FIELD_NUMBER: _ClassVar[int]
    MEAN_SHA256_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    TWIN_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    INTERFERENCE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    provider: str
    model: str
    dimension: int
    pooling: str
    query_prefix: str
    document_prefix: str
    model_sha256: str
    mean_sha256: str
    layout: int
    twin: float
    cluster: float
    interference: float
    floor: float
    def __init__(self, fingerprint: _Optional[str] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., dimension: _Optional[int] = ..., pooling: _Optional[str] = ..., query_prefix: _Optional[str] = ..., document_prefix: _Optional[str] = ..., model_sha256: _Optional[str] = ..., mean_sha256: _Optional[str] = ..., layout: _Optional[int] = ..., twin: _Optional[float] = ..., cluster: _Optional[float] = ..., interference: _Optional[float] = ..., floor: _Optional[float] = ...) -> None: ...

class EmbedRequest(_message.Message):
    __slots__ = ("texts", "kind", "background")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    kind: TextKind
    background: bool
    def __init__(self, texts: _Optional[_Iterable[str]] = ..., kind: _Optional[_Union[TextKind, str]] = ..., background: _Optional[bool] = ...) -> None: ...

class Embedded(_message.Message):
    __slots__ = ("vector", "truncated", "windows", "cached")
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    vector: bytes
    truncated: bool
    windows: int
    cached: bool
    def __init__(self, vector: _Optional[bytes] = ..., truncated: _Optional[bool] = ..., windows: _Optional[int] = ..., cached: _Optional[bool] = ...) -> None: ...

class EmbedResponse(_message.Message):
    __slots__ = ("vectors", "space")
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    vectors: _containers.RepeatedCompositeFieldContainer[Embedded]
    space: Space
    def __init__(self, vectors: _Optional[_Iterable[_Union[Embedded, _Mapping]]] = ..., space: _Optional[_Union[Space, _Mapping]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("space", "state", "detail")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    space: Space
    state: str
    detail: str
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ..., state: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...
