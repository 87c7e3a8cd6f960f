"""Answering one request of the host: by the gateway, with retries while the services restart, or locally.

Knows when a request may be sent again, when a legacy session must be opened anew, and which sentence a failure
becomes. Refuses to know where lines come from and go to.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time

from perdure.bridge import local
from perdure.bridge.eras import INTERNAL_ERROR, METHOD_NOT_FOUND, LegacySession, Message, modern_headers
from perdure.bridge.transport import AnswerLost, Call, Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from perdure.bridge.autostart import Starter
    from perdure.bridge.target import Target
    from perdure.bridge.transport import Exchange, Transport
    from perdure.bridge.workplace import Workplace

# JSON-RPC leaves -32000 to -32099 to implementations; the SDKs use this one for a connection that is gone.
UNREACHABLE = -32000
# The host is told what the HTTP status was; the code only has to be none of the protocol's.
REFUSED = -32050

PATIENCE_S = 20.0
READY_PATIENCE_S = 8.0
START_TOOL_PATIENCE_S = 25.0
FIRST_DELAY_S = 0.05
LONGEST_DELAY_S = 0.5

_REPEATABLE_ENDINGS = ("/list", "/get", "/read")
_REPEATABLE = frozenset({"initialize", "ping", "server/discover", "completion/complete", "logging/setLevel"})
# The first message of a host; the process must have answered it 0.3 s after its start, whatever the gateway does.
_OPENING = frozenset({"initialize", "server/discover"})
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class Fault(Exception):
    """A failure as the host is told it.

    Attributes:
        code: JSON-RPC error code.
        outage: The gateway is away or busy rather than unwilling, so the catalogue may answer in its stead.
    """

    def __init__(self, code: int, sentence: str, *, outage: bool = False, data: Any = None) -> None:
        """Remember what to say."""
        super().__init__(sentence)
        self.code = code
        self.outage = outage
        self.data = data


class _Busy(Exception):
    """The gateway, or a proxy before it, answered that it cannot serve now; nothing was carried out."""

    def __init__(self, fault: Fault, retry_after_s: float) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.retry_after_s = retry_after_s


class _SessionGone(Exception):
    """The gateway does not know the legacy session (any more)."""

    def __init__(self, fault: Fault, generation: int) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.generation = generation


class Relay:
    """Turns requests into answers. Every method may be called from many threads at once."""

    def __init__(
        self,
        target: Target,
        transport: Transport,
        starter: Starter,
        emit: Callable[[bytes], None],
        *,
        patience_s: float = PATIENCE_S,
        workplace: Workplace | None = None,
    ) -> None:
        """Send nothing yet.

        Args:
            target: The gateway, for the sentences about it.
            transport: Carries requests to it.
            starter: Is told when it is away, and starts it if that is ours to do.
            emit: Writes one line to the host.
            patience_s: Longest time that a request waits for a gateway that is away, >= 0.
            workplace: The host's project, for the instructions; None where nobody asks for it.
        """
        self._target = target
        self._transport = transport
        self._starter = starter
        self._emit = emit
        self._patience_s = patience_s
        self._workplace = workplace
        self._catalogue = local.Catalogue()
        self._session = LegacySession()
        self._read_only: frozenset[str] | None = None
        self._seen = False
        self._recovering = False

    @property
    def session(self) -> LegacySession:
        """The legacy session, for deciding to which era an unmarked notification belongs."""
        return self._session

    def answer(self, message: Message, call: Call) -> bytes:
        """The JSON-RPC answer to a request; a failure becomes one too. Notifications are emitted meanwhile."""
        try:
            if message.method == "initialize" and not message.modern:
                self._session.begin(message)
            if self._target.readonly and message.method == "tools/call" and not self._repeatable(message):
                sentence = (
                    f"This connection to Perdure only reads, so {message.name} is not carried out. "
                    "`perdure connect --no-readonly` allows it."
                )
                return local.encode_result(
                    message.request_id, local.tool_result(sentence, failed=True, modern=message.modern)
                )
            if message.method == "tools/call" and message.name == local.START_TOOL_NAME:
                text, ready = self._starter.start_and_report(call, START_TOOL_PATIENCE_S)
                return local.encode_result(
                    message.request_id, local.tool_result(text, failed=not ready, modern=message.modern)
                )
            if message.method == "tools/call" and message.name == local.COMPRESS_TOOL_NAME:
                from perdure.bridge import compress_tool  # only who calls it waits for it

                text, failed = compress_tool.call(message.params.get("arguments"), self._target)
                return local.encode_result(
                    message.request_id, local.tool_result(text, failed=failed, modern=message.modern)
                )
            if self._catalogue.has(message):
                return self._answer_at_once(message, call)
            return self._forward(message, call, patience_s=self._patience_s)
        except Fault as fault:
            return local.encode_error(message.request_id, fault.code, str(fault), fault.data)

    def notify(self, message: Message) -> None:
        """Deliver a notification, or a reply of the host's, once; nobody waits for it, so a failure is only dropped.

        In a modern session nothing is sent: that era has no messages from the client but requests.
        """
        if not message.modern and not self._session.open:
            return
        headers = modern_headers(message) if message.modern else self._session.headers()
        call = Call(modern=message.modern)
        with contextlib.suppress(Unreachable, AnswerLost):
            exchange = self._transport.open(message.body, headers, call, silence_timeout_s=5.0)
            with contextlib.closing(exchange):
                if not exchange.streams:
                    exchange.read()

    # -- the first questions -------------------------------------------------------------------------------------------

    def _answer_at_once(self, message: Message, call: Call) -> bytes:
        """Ask the gateway, but not for long: the catalogue answers if it is away, and if it is slow.

        A host waits for these before it shows any tool, some for less than a second, so they never wait for a start. A
        gateway that is there but slow gets longer for its list of tools, which may be more than the catalogue's.
        """
        opening = message.method in _OPENING
        match (self._target.loopback, self._seen):
            case (True, False):
                budget_s, patience_s = (0.12 if opening else 2.0), 0.0
            case (True, True):
                budget_s, patience_s = 5.0, 0.0
            case (False, False):
                budget_s, patience_s = 2.0, 0.0
            case _:
                budget_s, patience_s = 25.0, self._patience_s
        outcome: list[bytes | Fault] = []
        settled = threading.Event()

        def ask() -> None:
            try:
                outcome.append(self._forward(message, call, patience_s=patience_s))
            except Fault as fault:
                outcome.append(fault)
            finally:
                settled.set()

        threading.Thread(target=ask, name="first-question", daemon=True).start()
        settled.wait(budget_s)
        match outcome:
            case [bytes() as line]:
                return line
            case [Fault(outage=False) as fault]:
                raise fault
            case _:
                return self._from_catalogue(message)

    def _from_catalogue(self, message: Message) -> bytes:
        unsupported = self._catalogue.unsupported(message)
        if unsupported is not None:
            raise Fault(unsupported["code"], unsupported["message"], data=unsupported["data"])
        result = self._catalogue.result(message, readonly=self._target.readonly)
        if message.method == "initialize":
            self._session.agree_locally(result["protocolVersion"])
        return local.encode_result(message.request_id, self._shown(message, result))

    # -- by the gateway ------------------------------------------------------------------------------------------------

    def _forward(self, message: Message, call: Call, *, patience_s: float) -> bytes:
        """Send the request, again while that is safe and patience lasts.

        Raises:
            Fault: the gateway stayed away, its answer was lost, or it refused.
        """
        deadline = time.monotonic() + patience_s
        delay_s = FIRST_DELAY_S
        reopened = False
        if self._recovering and patience_s > 0:
            self._await_readiness(call)
        while True:
            generation = self._session.generation
            try:
                line = self._exchange(message, call, generation)
            except Unreachable as error:
                self._recovering = True
                self._starter.noticed_down()
                fault, pause_s = self._away(error), delay_s
                if error.lasting:
                    raise Fault(UNREACHABLE, str(fault)) from error
            except AnswerLost as error:
                fault, pause_s = self._lost(message, error), delay_s
                if not self._repeatable(message):
                    raise fault from error
            except _Busy as busy:
                fault, pause_s = busy.fault, max(delay_s, busy.retry_after_s)
                if not self._repeatable(message):
                    raise fault from busy
            except _SessionGone as gone:
                if reopened:
                    raise gone.fault from gone
                self._reopen(gone, call)
                reopened = True
                continue
            else:
                self._seen = True
                self._starter.noticed_up()
                return line
            if time.monotonic() + pause_s > deadline or call.pause(pause_s):
                raise fault
            if self._recovering:
                self._await_readiness(call)
            delay_s = min(delay_s * 2, LONGEST_DELAY_S)

    def _await_readiness(self, call: Call) -> None:
        """After an outage, let a gateway that is up wait for the services behind it, for a bounded time.

        Returns at once while the gateway itself is away: the caller's own retries deal with that.
        """
        deadline = time.monotonic() + READY_PATIENCE_S
        while time.monotonic() < deadline:
            state, _ = self._starter.state()
            if state == "unreachable":
                return
            if state != "starting":
                break
            if call.pause(0.1):
                return
        self._recovering = False

    def _exchange(self, message: Message, call: Call, generation: int) -> bytes:
        if call.cancelled:
            raise Fault(INTERNAL_ERROR, "The request was cancelled.")
        if message.modern:
            headers = modern_headers(message)
        elif message.method == "initialize":
            headers = {}
        else:
            headers = self._session.headers()
        exchange = self._transport.open(message.body, headers, call)
        with contextlib.closing(exchange):
            if exchange.streams and exchange.status == 200:
                return self._from_stream(message, exchange)
            body = exchange.read()
            answer = _as_answer(body)
            if exchange.status == 200 and answer is not None:
                return self._finish(message, answer, body, exchange)
            self._refuse(message, exchange, body, answer, generation)
            # The gateway's own JSON-RPC error, for example of an unknown method.
            return self._finish(message, answer or {}, body, exchange)

    def _from_stream(self, message: Message, exchange: Exchange) -> bytes:
        """Pass on what comes before the answer, and return the answer."""
        for data in exchange.events():
            value = _as_object(data)
            if value is None:
                continue
            if ("result" in value or "error" in value) and value.get("id") == message.request_id:
                return self._finish(message, value, data, exchange)
            self._emit(data)
        raise AnswerLost("the stream ended before the answer")

    def _finish(self, message: Message, answer: dict[str, Any], raw: bytes, exchange: Exchange) -> bytes:
        """Note what the answer says about the session and the tools; add ``memory_start`` to the list of tools."""
        result = answer.get("result")
        if answer.get("id") != message.request_id:
            # An error found before the id was read carries null; the host can only place it under its own id.
            return json.dumps({**answer, "id": message.request_id}, separators=(",", ":")).encode("ascii")
        if not isinstance(result, dict):
            return raw
        if message.method == "initialize":
            self._session.agree(result.get("protocolVersion"), exchange.header("Mcp-Session-Id") or None)
        shown = self._shown(message, result)
        if message.method == "tools/list":
            self._read_only = (self._read_only or frozenset()) | local.read_only_names(shown.get("tools") or [])
        if shown is result:
            return raw
        return json.dumps({**answer, "result": shown}, separators=(",", ":")).encode("ascii")

    def _shown(self, message: Message, result: dict[str, Any]) -> dict[str, Any]:
        """A result as the host gets it: the same object unless it lists tools or holds instructions."""
        if message.method == "tools/list":
            return local.without_writing_tools(result) if self._target.readonly else local.with_start_tool(result)
        if message.method in _OPENING and self._workplace is not None:
            return self._workplace.with_sentence(result, readonly=self._target.readonly)
        return result

    def _refuse(
        self, message: Message, exchange: Exchange, body: bytes, answer: dict[str, Any] | None, generation: int
    ) -> None:
        """Raise what an answer other than a plain 200 means; return if it is a JSON-RPC error to hand on as it is."""
        status = exchange.status
        error = answer.get("error") if answer is not None else None
        code = error.get("code") if isinstance(error, dict) else None
        said = error.get("message") if isinstance(error, dict) else _problem(body)
        fault = Fault(REFUSED, self._sentence(status, said if isinstance(said, str) else "", exchange))
        in_session = not message.modern and message.method != "initialize" and self._session.open
        if in_session and code != METHOD_NOT_FOUND and (status == 404 or (status == 400 and self._session.unconfirmed)):
            raise _SessionGone(fault, generation)
        if status in {502, 503, 504}:
            raise _Busy(Fault(UNREACHABLE, str(fault), outage=True), _seconds(exchange.header("Retry-After")))
        if code is None or status in {401, 403}:
            raise fault

    def _reopen(self, gone: _SessionGone, call: Call) -> None:
        """Open the legacy session anew with the host's own ``initialize``; once, however many requests found it gone.

        Raises:
            Fault: the gateway does not open one either.
        """
        handshake = self._session.handshake
        if handshake is None:
            raise gone.fault from gone
        with self._session.reopening:
            if self._session.generation != gone.generation:
                return
            try:
                self._exchange(handshake, call, gone.generation)
                if self._session.generation == gone.generation:
                    raise gone.fault from gone
                with contextlib.closing(self._transport.open(_INITIALIZED, self._session.headers(), call)) as done:
                    done.read()
            except (Unreachable, AnswerLost) as error:
                raise self._away(error) from error
            except _Busy as busy:
                raise busy.fault from busy

    # -- words ---------------------------------------------------------------------------------------------------------

    def _repeatable(self, message: Message) -> bool:
        """Whether carrying the request out twice is the same as once."""
        method = message.method or ""
        if method == "tools/call":
            if self._read_only is None:
                self._read_only = local.read_only_names(self._catalogue.tools())
            return message.name in self._read_only
        return method in _REPEATABLE or method.endswith(_REPEATABLE_ENDINGS)

    def _away(self, error: Exception) -> Fault:
        if self._starter.failure is not None:
            advice = f"{self._starter.failure} Run `perdure doctor` in a terminal to see what is wrong."
        elif self._target.autostart:
            advice = "The local services are being started; try again in a moment."
        elif self._target.loopback:
            advice = "Start the services with `perdure up`, or correct PERDURE_URL."
        else:
            advice = "Check PERDURE_URL and the network."
        return Fault(UNREACHABLE, f"Perdure cannot be reached at {self._target.url} ({error}). {advice}", outage=True)

    def _lost(self, message: Message, error: AnswerLost) -> Fault:
        sentence = f"The connection to Perdure at {self._target.url} failed while it answered ({error})."
        if not self._repeatable(message):
            sentence += " The request may have been carried out; look before you repeat it."
        return Fault(UNREACHABLE, sentence, outage=True)

    def _sentence(self, status: int, said: str, exchange: Exchange) -> str:
        where = self._target.url
        end = f" {said}" if said else ""
        match status:
            case 401:
                return (
                    f"Perdure at {where} did not accept the token (HTTP 401).{end} Set PERDURE_TOKEN to a valid token."
                )
            case 403:
                return f"Perdure at {where} does not allow this (HTTP 403).{end}"
            case 404:
                return f"There is no memory service at {where} (HTTP 404).{end} Check PERDURE_URL."
            case 413:
                return f"The request is too large for Perdure (HTTP 413).{end}"
            case 421:
                return f"Perdure at {where} does not serve this host name (HTTP 421).{end}"
            case 429:
                after = _seconds(exchange.header("Retry-After"))
                wait = f" Try again in {after:.0f} seconds." if after else " Try again later."
                return f"Perdure limits how often it is asked (HTTP 429).{end}{wait}"
            case 502 | 503 | 504:
                return f"Perdure at {where} is not ready (HTTP {status}).{end} Try again in a moment."
            case _ if 300 <= status < 400:
                to = exchange.header("Location")
                return (
                    f"Perdure has moved{f' to {to}' if to else ''} (HTTP {status}). Set PERDURE_URL to the new address."
                )
            case _ if status < 300:
                return f"What answers at {where} is not a memory service (HTTP {status} without a JSON-RPC answer)."
            case _:
                return f"Perdure at {where} answered HTTP {status}.{end}"


def _as_object(data: bytes) -> dict[str, Any] | None:
    """The JSON object in ``data``, or None if it holds no JSON-RPC message."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value.get("jsonrpc") == "2.0" else None


def _as_answer(body: bytes) -> dict[str, Any] | None:
    value = _as_object(body)
    return value if value is not None and ("result" in value or "error" in value) else None


def _problem(body: bytes) -> str:
    """The sentence in an error body: of problem+json, of a like JSON object, or short plain text; else nothing."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        text = body[:300].decode("utf-8", "replace").strip()
        return "" if "<" in text else " ".join(text.split())
    if isinstance(value, dict):
        for key in ("detail", "error_description", "message", "title", "error"):
            if isinstance(value.get(key), str) and value[key].strip():
                return " ".join(str(value[key]).split())[:500]
    return ""


def _seconds(header: str) -> float:
    """Seconds of a Retry-After header, at most an hour; 0 for a date or nothing."""
    return float(min(int(header), 3600)) if header.isascii() and header.isdigit() and len(header) < 10 else 0.0
