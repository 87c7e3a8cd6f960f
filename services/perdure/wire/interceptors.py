"""What happens around every RPC a service answers: token, deadline, context, errors, one line, one measurement.

One interceptor does it all, because each costs a wrapper per call. Knows no method by name.
"""

from __future__ import annotations

import contextlib
import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NoReturn

import grpc
import structlog

from perdure.errors import Code, DeadlineExceeded, PerdureError, Reason, Unauthenticated
from perdure.observability import context
from perdure.observability.logging import describe_exception
from perdure.observability.metrics import Metrics
from perdure.observability.tracing import Tracer
from perdure.wire import deadline, errors, metadata

log = structlog.get_logger()

OPEN_SERVICES = ("/grpc.health.v1.Health/",)
"""Answer without the internal token: probes have none, and health says nothing of anybody."""

_OURS = frozenset({Code.INTERNAL, Code.DATA_CORRUPT})
_OK = "ok"


class ServerInterceptor(grpc.ServerInterceptor):  # type: ignore[misc]  # grpc ships no types
    """Wraps every handler of one server.

    Args:
        metrics: Where calls are counted.
        tracer: Makes the span of a call.
        internal_token: Secret every caller must send; empty asks for none (unix sockets).
    """

    def __init__(self, *, metrics: Metrics, tracer: Tracer, internal_token: str) -> None:
        self._tracer = tracer
        self._token = internal_token.encode()
        self._duration_s = metrics.histogram(
            "rpc_duration_seconds", "Time to answer an RPC, by method and outcome.", ("method", "code")
        )
        self._running = metrics.gauge("rpc_running", "RPCs being answered now.")

    def intercept_service(self, continuation: Callable[[Any], Any], call: Any) -> Any:
        """The handler of the call, wrapped."""
        handler = continuation(call)
        if handler is None:
            return None
        method: str = call.method
        if handler.response_streaming:
            inner = handler.stream_stream if handler.request_streaming else handler.unary_stream
            make = (
                grpc.stream_stream_rpc_method_handler
                if handler.request_streaming
                else grpc.unary_stream_rpc_method_handler
            )
            return make(
                self._streaming(method, inner),
                request_deserializer=handler.request_deserializer,
                response_serializer=handler.response_serializer,
            )
        inner = handler.stream_unary if handler.request_streaming else handler.unary_unary
        make = (
            grpc.stream_unary_rpc_method_handler if handler.request_streaming else grpc.unary_unary_rpc_method_handler
        )
        return make(
            self._single(method, inner),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _single(self, method: str, inner: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def answer(request: Any, call: Any) -> Any:
            with _Around(self, method, call) as around:
                try:
                    around.admit()
                    return inner(request, call)
                except Exception as error:
                    around.abort(error)

        return answer

    def _streaming(
        self, method: str, inner: Callable[[Any, Any], Iterator[Any]]
    ) -> Callable[[Any, Any], Iterator[Any]]:
        def answer(request: Any, call: Any) -> Iterator[Any]:
            with _Around(self, method, call) as around:
                try:
                    around.admit()
                    yield from inner(request, call)
                except Exception as error:
                    around.abort(error)

        return answer


class _Around:
    """One call: binds its context, counts and logs it."""

    def __init__(self, interceptor: ServerInterceptor, method: str, call: Any) -> None:
        self._interceptor = interceptor
        self._method = method
        self._call = call
        self._code: str = _OK
        self._reason = ""
        self._stack = ExitStack()
        self._given = metadata.texts(call.invocation_metadata())

    def __enter__(self) -> _Around:
        given = self._given
        # what a dropped stream left behind in this thread is not this call's
        context.clear()
        self.request_id = context.accepted_request_id(given.get(metadata.REQUEST_ID))
        bound: AbstractContextManager[None] = context.bind(
            request_id=self.request_id, namespace=given.get(metadata.NAMESPACE)
        )
        self._stack.enter_context(bound)
        self._stack.enter_context(
            self._interceptor._tracer.span(self._method, parent=given.get(metadata.TRACEPARENT, ""))
        )
        self._interceptor._running.inc()
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        seconds = time.perf_counter() - self._start
        if kind is GeneratorExit:
            self._code = "cancelled"
        self._interceptor._running.dec()
        self._interceptor._duration_s.labels(self._method, self._code).observe(seconds)
        # the gateway's line of the request says that all went well; three lines a request would bury it
        say = log.debug if self._code == _OK else log.info
        facts = {"reason": self._reason} if self._reason else {}
        say("rpc.finished", method=self._method, code=self._code, duration_ms=round(seconds * 1000, 2), **facts)
        # a stream its caller dropped may be closed by another thread, whose context is not ours to reset
        with contextlib.suppress(ValueError):
            self._stack.close()

    def admit(self) -> None:
        """Refuses a call without the internal token, and one whose caller has stopped waiting."""
        expected = self._interceptor._token
        if expected and not self._method.startswith(OPEN_SERVICES):
            sent = self._given.get(metadata.INTERNAL_TOKEN, "")
            if not hmac.compare_digest(sent.encode(), expected):
                raise Unauthenticated(
                    "The call does not carry the services' internal token.",
                    reason=Reason.TOKEN_INVALID if sent else Reason.TOKEN_MISSING,
                )
        if deadline.time_left_s(self._call) <= 0:
            raise DeadlineExceeded("The time for this call was over before it began.", reason=Reason.DEADLINE)

    def abort(self, error: Exception) -> NoReturn:
        """Ends the call with what ``error`` means to its caller."""
        already = self._call.code()
        if already not in (None, grpc.StatusCode.OK):
            # the servicer, or gRPC itself, has ended the call before: its status stands
            self._code = already.name.lower()
            raise error
        if isinstance(error, grpc.RpcError) and not self._call.is_active():
            # the caller went away in the middle of its stream; nothing is wrong here and nobody listens
            self._code = "cancelled"
            raise error
        told = error if isinstance(error, PerdureError) else errors.withheld(self.request_id)
        self._code, self._reason = told.code.value, told.reason.value
        if told.code in _OURS:
            log.error("rpc.failed", method=self._method, code=self._code, exception=describe_exception(error))
            if told.code is Code.INTERNAL:
                told = errors.withheld(self.request_id)
        self._call.set_trailing_metadata(errors.trailers(told))
        self._call.abort(errors.status_of(told), told.message)
        raise AssertionError("gRPC's abort returned")
