"""One call to a service, for threads and for an event loop: metadata out, errors and bad answers translated.

What both kinds of client share; knows no service.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, TypeVar

import grpc
import grpc.aio

from perdure.domain.namespace import Caller
from perdure.errors import Internal, InvalidArgument, Reason, Unavailable
from perdure.wire import channel as channels
from perdure.wire import errors, metadata

CALL_S = 30.0
"""Time for a call when its maker says nothing."""

STREAM_S = 3600.0
"""Time for an export or import when its maker says nothing."""

_T = TypeVar("_T")


def understood(read: Callable[[], _T]) -> _T:
    """What ``read`` makes of an answer.

    Raises:
        Internal: the answer is malformed, which is the peer's defect and not the caller's.
    """
    try:
        return read()
    except InvalidArgument as error:
        raise Internal(
            "A service of Perdure answered in a way this version does not understand; restart all services.",
            reason=Reason.UNEXPECTED,
            details={name: value for name, value in error.details.items() if name == "field"},
        ) from error


def away() -> Unavailable:
    """The error for a service that cannot be reached."""
    return Unavailable(
        "A service of Perdure does not answer; it may be starting.",
        reason=Reason.SERVICE_AWAY,
        retry_after_s=errors.AWAY_RETRY_S,
    )


class Link:
    """A channel to one service, for threads.

    Args:
        target: ``unix:/path`` or ``host:port``.
        internal_token: The services' shared secret; empty on a unix socket.
        timeout_s: Time for a call that says nothing of its own.
        retry_once: See ``channel.options``.
    """

    def __init__(
        self,
        target: str,
        *,
        internal_token: str = "",
        timeout_s: float = CALL_S,
        retry_once: bool = False,
    ) -> None:
        self.channel = channels.connect(target, retry_once=retry_once)
        self._token = internal_token
        self._timeout_s = timeout_s

    def call(
        self, method: Any, request: Any, caller: Caller | None, timeout_s: float | None, *, once: bool = False
    ) -> Any:
        """The answer of ``method``; with ``once`` it is sent over a standing connection only.

        Raises:
            PerdureError: what the service, or its absence, means.
        """
        seconds = self._timeout_s if timeout_s is None else timeout_s
        if once and not channels.wait_until_ready(self.channel, seconds):
            raise away()
        try:
            return method(request, timeout=seconds, metadata=metadata.outgoing(caller, internal_token=self._token))
        except grpc.RpcError as failed:
            raise errors.from_call(failed) from None

    def stream(self, method: Any, request: Any, caller: Caller | None, timeout_s: float | None) -> Generator[Any]:
        """The answers of ``method`` as they come; closing the iterator cancels the call.

        Raises:
            PerdureError: what the service, or its absence, means.
        """
        seconds = STREAM_S if timeout_s is None else timeout_s
        call = method(request, timeout=seconds, metadata=metadata.outgoing(caller, internal_token=self._token))
        try:
            yield from call
        except grpc.RpcError as failed:
            raise errors.from_call(failed) from None
        finally:
            call.cancel()

    def close(self) -> None:
        """Lets go of the connection; calls that run are cancelled."""
        self.channel.close()


class AsyncLink:
    """A channel to one service, for the running event loop; the arguments are those of ``Link``."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        self.channel = channels.connect_aio(target)
        self._token = internal_token
        self._timeout_s = timeout_s

    async def call(
        self, method: Any, request: Any, caller: Caller | None, timeout_s: float | None, *, once: bool = False
    ) -> Any:
        """The answer of ``method``; with ``once`` it is sent over a standing connection only.

        Raises:
            PerdureError: what the service, or its absence, means.
        """
        seconds = self._timeout_s if timeout_s is None else timeout_s
        if once and not await channels.wait_until_ready_aio(self.channel, seconds):
            raise away()
        made: Awaitable[Any] = method(
            request, timeout=seconds, metadata=metadata.outgoing(caller, internal_token=self._token)
        )
        try:
            return await made
        except grpc.aio.AioRpcError as failed:
            raise errors.from_call(failed) from None

    async def stream(
        self, method: Any, request: Any, caller: Caller | None, timeout_s: float | None
    ) -> AsyncGenerator[Any]:
        """The answers of ``method`` as they come; closing the iterator cancels the call.

        Raises:
            PerdureError: what the service, or its absence, means.
        """
        seconds = STREAM_S if timeout_s is None else timeout_s
        call = method(request, timeout=seconds, metadata=metadata.outgoing(caller, internal_token=self._token))
        try:
            async for answer in call:
                yield answer
        except grpc.aio.AioRpcError as failed:
            raise errors.from_call(failed) from None
        finally:
            call.cancel()

    async def close(self) -> None:
        """Lets go of the connection; calls that run are cancelled."""
        await self.channel.close()


class Feed:
    """Turns values into requests for a streaming call, and keeps what went wrong on the way.

    gRPC swallows what a request iterator raises and reports a cancelled call instead.
    """

    def __init__(self) -> None:
        self._raised: BaseException | None = None

    def requests(self, items: Iterator[_T], convert: Callable[[_T], Any]) -> Iterator[Any]:
        """A request of each item."""
        try:
            for item in items:
                yield convert(item)
        except BaseException as error:
            self._raised = error
            raise

    async def requests_aio(self, items: AsyncIterator[_T], convert: Callable[[_T], Any]) -> AsyncIterator[Any]:
        """A request of each item."""
        try:
            async for item in items:
                yield convert(item)
        except BaseException as error:
            self._raised = error
            raise

    @property
    def raised(self) -> BaseException | None:
        """What the items raised, where they did."""
        return None if isinstance(self._raised, GeneratorExit | asyncio.CancelledError) else self._raised
