"""Entry point of ``perdure-bridge``: lines from stdin, one thread a request, lines to stdout, and when to end.

Knows the process: its streams, its parent, its end. Refuses to know what a message means beyond its kind.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time

from perdure.bridge.autostart import Starter
from perdure.bridge.eras import INTERNAL_ERROR, INVALID_REQUEST, Message, NotAMessage, parse
from perdure.bridge.local import encode_error
from perdure.bridge.relay import UNREACHABLE, Relay
from perdure.bridge.target import BadTarget, Target
from perdure.bridge.transport import Call, Transport
from perdure.bridge.workplace import Workplace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_IN_FLIGHT = 256
# The whole process is gone within a second of the end of its input.
GRACE_S = 0.7
PARENT_POLL_S = 0.25

_USAGE = """\
perdure-bridge: connects a tool that speaks MCP over stdin and stdout to the Perdure memory services.

It is started by the tool, not by hand. It reads these variables:
  PERDURE_URL        address of the services   (default http://127.0.0.1:$PERDURE_PORT, port 3456)
  PERDURE_TOKEN      token                     (default: the file token in PERDURE_HOME, if there is one)
  PERDURE_HOME       home of local services    (default ~/.perdure)
  PERDURE_AUTOSTART  0: never start the local services
  PERDURE_READONLY   1: only the tools that read; the same as the option --readonly
"""


class Output:
    """The only way to stdout: one line at a time, whole, whichever thread it comes from."""

    def __init__(self) -> None:
        """Take stdout for JSON-RPC and point whatever else writes there at stderr."""
        self._lock = threading.Lock()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        _make_blocking(self._descriptor)

    def emit(self, line: bytes) -> None:
        """Write one message. The process ends if nobody reads any more.

        Line breaks between the tokens of a message (the only place where JSON has them raw) become spaces.
        """
        rest = memoryview(line.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
        try:
            with self._lock:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os._exit(0)


class Log:
    """Sentences on stderr, with the token taken out should one ever hold it."""

    def __init__(self) -> None:
        """Hide nothing yet."""
        self._target: Target | None = None

    def hide(self, target: Target) -> None:
        """From now on, keep the target's configured token out of every sentence."""
        self._target = target

    def __call__(self, sentence: str) -> None:
        """Write one line; a closed stderr is no reason to fail."""
        if self._target is not None:
            sentence = self._target.without_token(sentence)
        with contextlib.suppress(OSError):
            os.write(2, f"perdure-bridge: {sentence}\n".encode("utf-8", "replace"))


class Bridge:
    """Sorts the host's messages, runs a thread for each request, and keeps track of them."""

    def __init__(self, relay: Relay, output: Output, log: Log, workplace: Workplace) -> None:
        """Begin with nothing in flight."""
        self._workplace = workplace
        self._relay = relay
        self._output = output
        self._log = log
        self._in_flight: dict[tuple[type, object], Call] = {}
        self._idle = threading.Condition()
        self._outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        threading.Thread(target=self._deliver, name="notifications", daemon=True).start()

    def take(self, line: bytes) -> None:
        """Act on one line of input; returns at once."""
        try:
            message = parse(line)
        except NotAMessage as fault:
            self._output.emit(encode_error(fault.request_id, fault.code, str(fault)))
            return
        if self._workplace.heard(message, self._output.emit):
            return
        if message.request_id is not None:
            self._begin(message)
        elif message.method == "notifications/cancelled":
            self._cancel(message)
        elif message.method == "notifications/initialized" and self._relay.session.has_id:
            # A gateway with sessions refuses what overtakes this; one that gave no id does not care.
            self._relay.notify(message)
        else:
            self._outbox.put(message)

    def drain(self, grace_s: float) -> None:
        """Wait for the answers in flight, at most ``grace_s``."""
        with self._idle:
            self._idle.wait_for(lambda: not self._in_flight, grace_s)

    def _begin(self, message: Message) -> None:
        call = Call(modern=message.modern)
        with self._idle:
            if len(self._in_flight) >= MAX_IN_FLIGHT:
                sentence = f"More than {MAX_IN_FLIGHT} requests at once; try again in a moment."
                self._output.emit(encode_error(message.request_id, UNREACHABLE, sentence))
                return
            self._in_flight[_key(message.request_id)] = call
        threading.Thread(target=self._answer, args=(message, call), name="request", daemon=True).start()

    def _answer(self, message: Message, call: Call) -> None:
        try:
            line = self._relay.answer(message, call)
        except Exception as error:
            self._log(f"{type(error).__name__} while answering {message.method}")
            line = encode_error(message.request_id, INTERNAL_ERROR, "The bridge failed on this request (see its log).")
        if not call.cancelled:
            self._output.emit(line)
        with self._idle:
            key = _key(message.request_id)
            if self._in_flight.get(key) is call:
                del self._in_flight[key]
            self._idle.notify_all()

    def _cancel(self, message: Message) -> None:
        """Stop waiting for a request; a legacy gateway is told, a modern one sees the connection close."""
        with self._idle:
            call = self._in_flight.get(_key(message.params.get("requestId")))
        modern = call.modern if call is not None else not self._relay.session.open
        if not modern:
            self._outbox.put(message)
        if call is not None:
            call.cancel()

    def _deliver(self) -> None:
        while True:
            message = self._outbox.get()
            try:
                self._relay.notify(message)
            except Exception as error:
                self._log(f"{type(error).__name__} while passing on {message.method or 'a reply'}")


def _key(request_id: object) -> tuple[type, object]:
    """A key under which 1, 1.0 and "1" are three ids; an id that no request can have matches none."""
    return type(request_id), request_id if isinstance(request_id, str | int | float) else None


def read_lines(stream: IO[bytes], output: Output) -> Iterator[bytes]:
    """Non-empty lines of input, without their ends; one that is too large is answered and skipped."""
    while True:
        line = stream.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            output.emit(encode_error(None, INVALID_REQUEST, f"A message may be at most {MAX_LINE_BYTES} bytes long."))
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE_BYTES)
            continue
        line = line.strip()
        if line:
            yield line


def _make_blocking(descriptor: int) -> None:
    """Undo what some hosts do to the pipes they hand over: a half-written message or a half-read line helps nobody."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no such call for pipes before Python 3.12
        os.set_blocking(descriptor, True)


def _watch_parent() -> None:
    """End with the host: an orphan is adopted by another process, and then nobody will ever close our input."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(0)


def main() -> int:
    """Relay until the input ends, the host dies or nobody reads; 2 if the environment names no usable gateway."""
    if sys.argv[1:2] in (["-h"], ["--help"]):
        sys.stdout.write(_USAGE)
        return 0
    log = Log()
    try:
        chosen = {"PERDURE_READONLY": "1"} if "--readonly" in sys.argv[1:] else {}
        target = Target({**os.environ, **chosen}, log)
    except BadTarget as fault:
        log(str(fault))
        return 2
    log.hide(target)
    if sys.platform != "win32":
        threading.Thread(target=_watch_parent, name="parent-watch", daemon=True).start()
    try:
        output = Output()
    except OSError:
        log("There is no standard output; this command is started by a tool that speaks MCP.")
        return 2
    if sys.stdin is None:
        return 0  # started without an input: it has ended already
    _make_blocking(0)
    workplace = Workplace(os.environ)
    transport = Transport(target, workplace)
    relay = Relay(target, transport, Starter(target, transport, log), output.emit, workplace=workplace)
    bridge = Bridge(relay, output, log, workplace)
    try:
        for line in read_lines(sys.stdin.buffer, output):
            bridge.take(line)
        bridge.drain(GRACE_S)
    except (KeyboardInterrupt, OSError):
        pass  # Ctrl-C in the host's terminal, or stdin torn away: an end like any other
    # Not a return: threads still waiting for the network must not hold the process.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
