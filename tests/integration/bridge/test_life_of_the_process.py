"""When the bridge ends, and that nothing but JSON-RPC ever reaches the host."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from support.bridge_process import COMMAND, BridgeProcess, environment
from support.scripted_gateway import Reply, ScriptedGateway, Seen, result, stateless

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")


@pytest.mark.requirement("BRIDGE-04")
def test_it_ends_when_its_input_ends(bridge: BridgeProcess) -> None:
    bridge.ask("ping")
    bridge.end_input()
    assert bridge.wait() == 0
    assert bridge.stderr == ""


def test_answers_in_flight_are_given_before_it_ends(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    released = threading.Event()

    def script(seen: Seen) -> Reply:
        assert released.wait(10)
        return stateless(seen)

    gateway.script = script
    request_id = bridge.send("tools/call", {"name": "memory_search"})
    gateway.wait_for("tools/call")
    bridge.end_input()
    released.set()
    assert bridge.receive()["id"] == request_id
    assert bridge.wait() == 0


def test_a_gateway_that_never_answers_does_not_keep_it(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    never = threading.Event()
    gateway.script = lambda seen: Reply(hang_up=never.wait(30))
    bridge.send("tools/call", {"name": "memory_search"})
    gateway.wait_for("tools/call")
    bridge.end_input()
    assert bridge.wait() == 0
    never.set()


def test_a_call_that_waits_for_a_restart_does_not_keep_it(start) -> None:  # type: ignore[no-untyped-def]
    bridge = start(PERDURE_URL=ScriptedGateway().url)
    bridge.send("tools/call", {"name": "memory_save"})
    bridge.end_input()
    assert bridge.wait() == 0


def test_a_last_line_without_an_end_is_still_answered(bridge: BridgeProcess) -> None:
    assert bridge.process.stdin is not None
    bridge.process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    bridge.end_input()
    assert bridge.receive()["result"] == {}


@posix_only
def test_it_ends_when_nobody_reads_its_output(gateway: ScriptedGateway) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE, env=environment(PERDURE_URL=gateway.url)
    )
    os.close(writing)
    os.close(reading)
    assert process.stdin is not None
    assert process.stderr is not None
    with process.stdin, process.stderr:
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert process.wait(10) == 0
        assert process.stderr.read() == b""


@posix_only
@pytest.mark.requirement("BRIDGE-04")
def test_it_ends_when_its_parent_is_killed_though_its_input_stays_open(gateway: ScriptedGateway) -> None:
    host = f"""
import subprocess, time
bridge = subprocess.Popen({COMMAND!r})
time.sleep(600)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", host],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(PERDURE_URL=gateway.url),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        ended: list[bytes] = []
        reader = threading.Thread(target=lambda: ended.append(process.stdout.read()), daemon=True)  # type: ignore[union-attr]
        reader.start()
        reader.join(10)
        assert ended == [b""]


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_a_trace(bridge: BridgeProcess, number: signal.Signals) -> None:
    bridge.ask("ping")
    bridge.process.send_signal(number)
    bridge.wait()
    assert bridge.stderr == ""


@pytest.mark.requirement("BRIDGE-05")
def test_whatever_is_printed_goes_to_stderr(start, gateway: ScriptedGateway) -> None:  # type: ignore[no-untyped-def]
    program = """
import os, threading
from perdure.bridge import main, relay
answer = relay.Relay.answer
def noisy(self, message, call):
    print("printed", flush=True)
    os.system("echo from a child")
    return answer(self, message, call)
relay.Relay.answer = noisy
main.main()
"""
    bridge = start([sys.executable, "-c", program], PERDURE_URL=gateway.url)
    bridge.ask("ping")
    bridge.end_input()
    bridge.wait()
    assert len(bridge.raw) == 1
    assert "printed" in bridge.stderr
    assert "from a child" in bridge.stderr


def test_a_failure_of_the_bridge_itself_is_an_answer_too(start, gateway: ScriptedGateway) -> None:  # type: ignore[no-untyped-def]
    program = """
from perdure.bridge import main, relay
def broken(self, message, call):
    raise ZeroDivisionError("secret detail")
relay.Relay.answer = broken
main.main()
"""
    bridge = start([sys.executable, "-c", program], PERDURE_URL=gateway.url)
    assert bridge.ask("ping")["error"]["code"] == -32603
    bridge.end_input()
    assert bridge.wait() == 0
    assert "ZeroDivisionError while answering ping" in bridge.stderr
    assert "secret detail" not in bridge.stderr


def test_help_names_the_variables() -> None:
    done = subprocess.run([*COMMAND, "--help"], env=environment(), capture_output=True, check=True, timeout=60)
    for name in (b"PERDURE_URL", b"PERDURE_TOKEN", b"PERDURE_HOME", b"PERDURE_AUTOSTART"):
        assert name in done.stdout


@posix_only
def test_pipes_that_do_not_block_are_no_obstacle(gateway: ScriptedGateway) -> None:
    gateway.script = lambda seen: result(seen, {"text": "x" * 4_000_000})
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE, env=environment(PERDURE_URL=gateway.url)
    )
    os.close(writing)
    assert process.stdin is not None
    assert process.stderr is not None
    with process.stdin, process.stderr, os.fdopen(reading, "rb") as output:
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"prompts/get"}\n')
        process.stdin.flush()
        assert len(json.loads(output.readline())["result"]["text"]) == 4_000_000
        process.stdin.close()
        assert process.wait(10) == 0
