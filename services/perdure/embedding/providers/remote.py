"""What providers behind HTTP have in common: time-outs, retries with back-off, the breaker, checked answers.

Knows no path and no field of any provider. httpx is imported when the first remote provider is made, so that the
embedded model's process does not carry it.
"""

from __future__ import annotations

import abc
import ipaddress
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import numpy as np

from perdure.domain.layout import LAYOUT_VERSION
from perdure.domain.vectors import Matrix, Space, Vector, unit
from perdure.embedding.breaker import Breaker
from perdure.embedding.providers import UNCALIBRATED, Limits
from perdure.embedding.providers.families import Family, Prefixes
from perdure.embedding.texts import Kind, estimated_tokens
from perdure.errors import (
    DeadlineExceeded,
    Detail,
    FailedPrecondition,
    InvalidArgument,
    PerdureError,
    Reason,
    Unavailable,
)

if TYPE_CHECKING:
    import httpx

ATTEMPTS: Final = 3
BACKOFF_S: Final = (0.2, 0.8)
PATIENCE_S: Final = 5.0
"""A call whose callers have given up is still awaited that long: its vectors are there when they ask again."""

_PIECE_CHARS_MIN: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings:
    """What a remote provider is told.

    ``timeout_s``: of one call. ``dimension``: to ask for or expect; 0 takes the model's own.
    """

    url: str
    model: str
    prefixes: Prefixes
    family: Family
    timeout_s: float = 30.0
    dimension: int = 0
    headers: Mapping[str, str] | None = None
    batch_texts: int = 64


class Http:
    """Posts JSON to one base URL, again where that may help.

    Args:
        settings: URL, headers, time-out.
        breaker: Asked before each call.
        on_retry: Told of each call that is made again.
        backoff_s: Waits between attempts; a little randomness is added, and ``Retry-After`` wins.
    """

    def __init__(
        self,
        settings: RemoteSettings,
        breaker: Breaker,
        *,
        on_retry: Callable[[], None] = lambda: None,
        backoff_s: Sequence[float] = BACKOFF_S,
    ) -> None:
        import httpx

        self._url = settings.url.rstrip("/")
        self._timeout_s = settings.timeout_s
        self._breaker = breaker
        self._on_retry = on_retry
        self._backoff_s = tuple(backoff_s)
        self._closed = threading.Event()
        # a proxy of the environment is for the world outside, not for this machine
        self._client = httpx.Client(headers=dict(settings.headers or {}), trust_env=not _is_loopback(self._url))

    def post(self, path: str, body: Mapping[str, Any], parse: Callable[[Any], Matrix], *, timeout_s: float) -> Matrix:
        """What ``parse`` makes of the JSON answer.

        Args:
            path: Below the base URL.
            body: Sent as JSON.
            parse: Raises KeyError, TypeError or ValueError where the answer is malformed.
            timeout_s: How long anybody waits.

        Raises:
            Unavailable: see ``Provider.embed``; also CIRCUIT_OPEN.
            DeadlineExceeded: no answer in time.
            InvalidArgument: the provider refuses what was sent (TEXT_UNUSABLE).
        """
        until = time.monotonic() + timeout_s
        attempt = 0
        while True:
            self._breaker.admit()
            try:
                result = self._once(path, body, parse, timeout_s=until - time.monotonic())
            except InvalidArgument:
                self._breaker.succeeded()
                raise
            except Unavailable as error:
                self._breaker.failed()
                wait_s = _wait_s(error, self._backoff_s[min(attempt, len(self._backoff_s) - 1)])
                attempt += 1
                again = error.details.get("again") and attempt < ATTEMPTS and time.monotonic() + wait_s < until
                if not again or self._closed.wait(wait_s):
                    raise
                self._on_retry()
            except PerdureError:
                self._breaker.failed()
                raise
            except BaseException:
                self._breaker.gave_up()
                raise
            else:
                self._breaker.succeeded()
                return result

    def get(self, path: str) -> Any:
        """The JSON at ``path``; None where there is none. For facts that are good to have.

        Raises:
            Unavailable: nobody answers.
        """
        import httpx

        try:
            response = self._client.get(self._url + path, timeout=min(5.0, self._timeout_s))
        except httpx.HTTPError as error:
            raise _away(self._url, type(error).__name__) from error
        try:
            return response.json() if response.is_success else None
        except ValueError:
            return None

    def close(self) -> None:
        """Closes the connections and ends a wait."""
        self._closed.set()
        self._client.close()

    def _once(self, path: str, body: Mapping[str, Any], parse: Callable[[Any], Matrix], *, timeout_s: float) -> Matrix:
        import httpx

        allowed_s = min(self._timeout_s, max(timeout_s, PATIENCE_S))
        try:
            response = self._client.post(self._url + path, json=body, timeout=allowed_s)
        except httpx.TimeoutException as error:
            raise DeadlineExceeded(
                "The embedding provider did not answer in time.",
                reason=Reason.DEADLINE,
                details={"waited_s": round(allowed_s, 3)},
            ) from error
        except httpx.HTTPError as error:
            raise _away(self._url, type(error).__name__) from error
        _check_status(response, self._url)
        try:
            return parse(response.json())
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable(
                "The embedding provider's answer is not what its interface promises.",
                reason=Reason.EMBEDDER_AWAY,
                details={"host": _host(self._url), "again": True},
            ) from error


class RemoteProvider(abc.ABC):
    """Prefixes, windows, checks; the paths and fields are the subclass's.

    Asks for one vector when it is made, to learn the dimension.

    Args:
        name: The provider's name in the space.
        settings: What it is told.
        http: Posts.
        model_sha256: The model's digest where the provider tells one.

    Raises:
        PerdureError: the provider does not answer; see ``Provider.embed``.
    """

    def __init__(self, name: str, settings: RemoteSettings, http: Http, *, model_sha256: str = "") -> None:
        self._settings = settings
        self._http = http
        dimension = self._ask(["probe"], timeout_s=settings.timeout_s).shape[1]
        if settings.dimension and dimension != settings.dimension:
            raise FailedPrecondition(
                f"The model's vectors have {dimension} numbers, not PERDURE_EMBEDDING_DIMENSION={settings.dimension}.",
                reason=Reason.SPACE_MISMATCH,
                details={"dimension": dimension, "expected": settings.dimension},
            )
        self._space = Space(
            provider=name,
            model=settings.model,
            dimension=dimension,
            pooling="provider",
            query_prefix=settings.prefixes.query,
            document_prefix=settings.prefixes.document,
            model_sha256=model_sha256,
            mean_sha256="",
            layout=LAYOUT_VERSION,
            thresholds=UNCALIBRATED,
        )

    @property
    def space(self) -> Space:
        """The provider's space, not calibrated."""
        return self._space

    @property
    def mean(self) -> Vector | None:
        """None: which models gain from one is not known."""
        return None

    @property
    def limits(self) -> Limits:
        """Many texts a call: what costs is the way."""
        return Limits(
            text_tokens=self._settings.family.text_tokens,
            batch_texts=self._settings.batch_texts,
            batch_tokens=self._settings.batch_texts * 1024,
        )

    def tokens(self, text: str, kind: Kind) -> int:
        """Estimated, erring upwards."""
        return estimated_tokens(self._settings.prefixes.of(kind) + text)

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float) -> Matrix:
        """See ``Provider.embed``. A text that is refused is tried in halves, as its tokens were only estimated."""
        prefix = self._settings.prefixes.of(kind)
        until = time.monotonic() + timeout_s
        return self._pieces([prefix + text for text in texts], len(prefix), until)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _pieces(self, texts: Sequence[str], prefix_chars: int, until: float) -> Matrix:
        try:
            return self._checked(texts, timeout_s=until - time.monotonic())
        except InvalidArgument:
            if len(texts) > 1:
                return np.vstack([self._pieces([text], prefix_chars, until) for text in texts])
            prefix, text = texts[0][:prefix_chars], texts[0][prefix_chars:]
            if len(text) < _PIECE_CHARS_MIN:
                raise
            middle = len(text) // 2
            halves = self._pieces([prefix + text[:middle], prefix + text[middle:]], prefix_chars, until)
            joined: Matrix = unit(halves).mean(axis=0, keepdims=True)
            return joined

    def _checked(self, texts: Sequence[str], *, timeout_s: float) -> Matrix:
        rows = self._ask(texts, timeout_s=timeout_s)
        if rows.shape[1] != self._space.dimension:
            raise FailedPrecondition(
                "The provider's model has changed: its vectors have another length; restart the embedding service.",
                reason=Reason.SPACE_MISMATCH,
                details={"dimension": int(rows.shape[1]), "expected": self._space.dimension},
            )
        return rows

    @abc.abstractmethod
    def _ask(self, texts: Sequence[str], *, timeout_s: float) -> Matrix:
        """Rows for texts with their prefix, from ``matrix``."""


def matrix(rows: Sequence[Sequence[float]], count: int) -> Matrix:
    """The vectors of an answer, checked.

    Raises:
        ValueError, TypeError: they are not ``count`` finite rows of one length, none of them zero.
    """
    array = np.asarray(rows, dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != count or array.shape[1] < 1 or not np.isfinite(array).all():
        raise ValueError("not the vectors of the texts")
    if not array.any(axis=1).all():
        raise ValueError("a zero vector")
    return array


def _check_status(response: httpx.Response, url: str) -> None:
    """Raise what the status means; 2xx means nothing."""
    status = response.status_code
    if 200 <= status < 300:
        return
    details: dict[str, Detail] = {"host": _host(url), "status": status}
    if status in (400, 413, 422):
        raise InvalidArgument(
            "The embedding provider does not take this text, or not with these settings.",
            reason=Reason.TEXT_UNUSABLE,
            details=details,
        )
    if status in (401, 403):
        raise Unavailable(
            "The embedding provider refuses us; check PERDURE_EMBEDDING_API_KEY.",
            reason=Reason.EMBEDDER_AWAY,
            details=details,
        )
    if status == 404:
        raise Unavailable(
            "The embedding provider does not know the model or the path; check PERDURE_EMBEDDING_MODEL and "
            "PERDURE_EMBEDDING_URL (Ollama: has the model been pulled?).",
            reason=Reason.EMBEDDER_AWAY,
            details=details,
        )
    raise Unavailable(
        "The embedding provider is busy." if status == 429 else "The embedding provider fails.",
        reason=Reason.EMBEDDER_AWAY,
        details={**details, "again": status in (408, 429) or status >= 500},
        retry_after_s=_retry_after_s(response.headers.get("retry-after")),
    )


def _away(url: str, kind: str) -> Unavailable:
    return Unavailable(
        "The embedding provider cannot be reached.",
        reason=Reason.EMBEDDER_AWAY,
        details={"host": _host(url), "kind": kind, "again": True},
    )


def _retry_after_s(header: str | None) -> float | None:
    """Seconds of a ``Retry-After`` header; its other form, a date, is not used by any provider we know."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None


def _wait_s(error: PerdureError, backoff_s: float) -> float:
    # spread, so that processes that failed together do not come back together
    return error.retry_after_s if error.retry_after_s is not None else backoff_s * random.uniform(0.75, 1.25)  # noqa: S311 - no secret


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _is_loopback(url: str) -> bool:
    host = _host(url)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
