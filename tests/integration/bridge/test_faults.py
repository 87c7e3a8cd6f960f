"""What the host is told when the gateway refuses, restarts, forgets or is not there at all."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from itertools import count
from pathlib import Path

import pytest

from perdure.bridge.autostart import Starter
from perdure.bridge.eras import parse
from perdure.bridge.relay import Relay
from perdure.bridge.target import Target
from perdure.bridge.transport import Call, Transport
from support.bridge_process import MODERN_META, BridgeProcess
from support.scripted_gateway import Reply, ScriptedGateway, Seen, running, stateless

TOKEN = "pdr_abc_verysecretvalue"


def problem(status: int, detail: str, **headers: str) -> Reply:
    body = json.dumps({"type": "about:blank", "title": "x", "status": status, "detail": detail}).encode()
    return Reply(status=status, body=body, content_type="application/problem+json", headers=headers)


def no_session(seen: Seen) -> Reply:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}
    return Reply(status=404, body=json.dumps(error).encode())


class WithSessions:
    """A gateway that keeps sessions and may forget them."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.session = ""

    def forget(self) -> None:
        self.session = ""

    def __call__(self, seen: Seen) -> Reply:
        if seen.verb == "GET":
            return stateless(seen)
        reply = stateless(seen)
        if seen.body.get("method") == "initialize":
            self.session = f"s-{next(self._numbers)}"
            return Reply(body=reply.body, headers={"Mcp_Session_Id": self.session})
        if not self.session or seen.headers.get("mcp-session-id") != self.session:
            return no_session(seen)
        return reply


@pytest.mark.requirement("BRIDGE-03")
def test_a_forgotten_session_is_opened_again_without_the_host_noticing(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    script = gateway.script = WithSessions()
    bridge.initialize("2025-06-18")
    bridge.ask("ping")
    script.forget()
    assert "result" in bridge.ask("tools/call", {"name": "memory_save", "arguments": {"a": 1}})
    opened = gateway.calls("initialize")
    assert len(opened) == 2
    assert opened[0].raw == opened[1].raw
    assert "mcp-session-id" not in opened[1].headers
    assert gateway.wait_for("notifications/initialized", 2)[1].headers["mcp-session-id"] == "s-2"
    assert [seen.headers["mcp-session-id"] for seen in gateway.calls("tools/call")] == ["s-1", "s-2"]


def test_many_requests_that_find_the_session_gone_open_one_new_one(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    script = gateway.script = WithSessions()
    bridge.initialize()
    bridge.ask("ping")
    script.forget()
    for n in range(10):
        bridge.send("tools/call", {"name": "memory_search", "arguments": {"n": n}})
    assert all("result" in bridge.receive() for _ in range(10))
    assert len(gateway.calls("initialize")) == 2


def test_a_session_that_cannot_be_opened_again_is_an_error_and_no_loop(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    bridge.initialize()
    gateway.script = no_session
    answer = bridge.ask("tools/call", {"name": "memory_search"})
    assert "404" in answer["error"]["message"]
    assert len(gateway.calls("initialize")) == 2


def test_an_unknown_method_is_the_gateways_own_error_and_no_lost_session(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    bridge.initialize()
    assert bridge.ask("no/such")["error"]["code"] == -32601
    assert len(gateway.calls("initialize")) == 1


def test_a_session_answered_locally_is_opened_at_a_gateway_that_insists(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    gateway.stop()
    bridge.initialize()
    gateway.script = WithSessions()
    gateway.start()
    assert "result" in bridge.ask("tools/call", {"name": "memory_save", "arguments": {}})
    assert len(gateway.calls("initialize")) == 1


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
@pytest.mark.parametrize("tool", ["memory_search", "memory_save"])
@pytest.mark.requirement("BRIDGE-09")
def test_a_restart_between_two_calls_is_not_noticed(
    bridge: BridgeProcess, gateway: ScriptedGateway, modern: bool, tool: str
) -> None:
    params = {"name": tool, "arguments": {}, **({"_meta": MODERN_META} if modern else {})}
    if not modern:
        bridge.initialize()
    assert "result" in bridge.ask("tools/call", params)
    gateway.stop()
    waiting = bridge.send("tools/call", params)
    gateway.start()
    answer = bridge.receive()
    assert answer["id"] == waiting
    assert "result" in answer
    assert len(gateway.calls("tools/call")) == 2


def test_after_an_outage_a_call_waits_for_the_services_behind_the_gateway(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    not_ready = Reply(status=503, body=b'{"retrieval":{"status":"starting"}}')
    checks: list[Seen] = []

    def script(seen: Seen) -> Reply:
        if seen.verb == "GET":
            checks.append(seen)
            return not_ready if len(checks) < 4 else stateless(seen)
        assert len(checks) >= 4 or seen.body["method"] != "tools/call"
        return stateless(seen)

    gateway.stop()
    bridge.initialize()
    gateway.script = script
    gateway.start()
    assert "result" in bridge.ask("tools/call", {"name": "memory_save", "arguments": {}})
    assert len(checks) == 4


def test_a_lost_answer_is_asked_for_again_only_where_repeating_changes_nothing(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    losses = {"memory_search": 2, "memory_save": 1}

    def script(seen: Seen) -> Reply:
        tool = seen.body.get("params", {}).get("name")
        if losses.get(tool, 0) > 0:
            losses[tool] -= 1
            return Reply(hang_up=True)
        return stateless(seen)

    gateway.script = script
    assert "result" in bridge.ask("tools/call", {"name": "memory_search"})
    assert len(gateway.calls("tools/call")) == 3
    lost = bridge.ask("tools/call", {"name": "memory_save"})
    assert "may have been carried out" in lost["error"]["message"]
    assert len(gateway.calls("tools/call")) == 4


def test_a_gateway_that_is_not_ready_is_asked_again_for_what_changes_nothing(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    replies = iter([problem(503, "Starting."), problem(503, "Starting."), problem(503, "Starting.")])

    def script(seen: Seen) -> Reply:
        return next(replies, None) or stateless(seen)

    gateway.script = script
    assert "result" in bridge.ask("tools/call", {"name": "memory_get"})
    gateway.script = lambda seen: problem(503, "Retrieval is restarting.")
    refused = bridge.ask("tools/call", {"name": "memory_save"})
    assert "Retrieval is restarting." in refused["error"]["message"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            problem(401, "The token has been revoked."),
            ["did not accept the token", "has been revoked", "PERDURE_TOKEN"],
        ),
        (problem(403, "Host not allowed"), ["403", "Host not allowed"]),
        (Reply(status=404, body=b"<html>no</html>", content_type="text/html"), ["no memory service", "PERDURE_URL"]),
        (problem(413, "At most 4 MiB."), ["too large", "At most 4 MiB."]),
        (Reply(status=421, body=b"Invalid Host header", content_type="text/plain"), ["421", "Invalid Host header"]),
        (problem(429, "Slow down.", Retry_After="7"), ["Slow down.", "7 seconds"]),
        (problem(500, "Request id r-1."), ["500", "r-1"]),
        (Reply(status=307, headers={"Location": "https://elsewhere.example/mcp"}), ["moved", "elsewhere.example"]),
        (Reply(status=200, body=b"hello", content_type="text/plain"), ["not a memory service"]),
        (Reply(status=200, body=b'{"ok":true}'), ["not a memory service"]),
        (Reply(status=202), ["not a memory service"]),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else "",
)
def test_a_refusal_becomes_a_sentence(
    bridge: BridgeProcess, gateway: ScriptedGateway, reply: Reply, words: list[str]
) -> None:
    gateway.script = lambda seen: reply
    message = bridge.ask("tools/call", {"name": "memory_search"})["error"]["message"]
    for word in words:
        assert word in message


def test_a_refused_token_is_told_at_the_handshake(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    gateway.script = lambda seen: problem(401, "Unknown token.")
    assert "Unknown token." in bridge.initialize()["error"]["message"]
    assert "Unknown token." in bridge.ask_modern("server/discover")["error"]["message"]


def test_a_protocol_error_of_the_gateway_passes_as_it_is(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    error = {"code": -32020, "message": "Header mismatch", "data": {"header": "Mcp-Name"}}
    gateway.script = lambda seen: Reply(
        status=400, body=json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    )
    answer = bridge.ask_modern("tools/call", {"name": "x"})
    assert answer["error"] == error


def test_the_token_is_sent_and_never_shown(start, gateway: ScriptedGateway) -> None:  # type: ignore[no-untyped-def]
    bridge = start(PERDURE_URL=gateway.url, PERDURE_TOKEN=TOKEN)
    bridge.ask("tools/call", {"name": "memory_search"})
    assert gateway.calls("tools/call")[0].headers["authorization"] == f"Bearer {TOKEN}"
    gateway.script = lambda seen: problem(401, "Expired.")
    bridge.ask("tools/call", {"name": "memory_search"})
    gateway.script = lambda seen: Reply(hang_up=True)
    bridge.ask("tools/call", {"name": "memory_save"})
    bridge.send_bytes(b"{")
    bridge.receive()
    bridge.end_input()
    bridge.wait()
    assert TOKEN not in bridge.stderr
    assert TOKEN.encode() not in b"".join(bridge.raw)


def test_a_token_file_that_others_can_read_is_named_on_stderr_but_not_sent(
    start, gateway: ScriptedGateway, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    home = tmp_path / "home"
    home.mkdir()
    (home / "token").write_text(TOKEN)
    (home / "token").chmod(0o644)
    bridge = start(PERDURE_URL=gateway.url)
    bridge.ask("tools/call", {"name": "memory_search"})
    assert "authorization" not in gateway.calls("tools/call")[0].headers
    (home / "token").chmod(0o600)
    bridge.ask("tools/call", {"name": "memory_search"})
    assert gateway.calls("tools/call")[1].headers["authorization"] == f"Bearer {TOKEN}"
    bridge.end_input()
    bridge.wait()
    assert "chmod 600" in bridge.stderr
    assert TOKEN not in bridge.stderr


@pytest.mark.requirement("BRIDGE-07")
def test_without_a_gateway_the_first_questions_are_answered_at_once(start) -> None:  # type: ignore[no-untyped-def]
    gateway = ScriptedGateway()
    bridge = start(PERDURE_URL=gateway.url)
    assert bridge.initialize("2025-06-18")["result"]["protocolVersion"] == "2025-06-18"
    names = [tool["name"] for tool in bridge.ask("tools/list")["result"]["tools"]]
    assert "memory_save" in names
    assert names[-1] == "memory_start"
    discovered = bridge.ask_modern("server/discover")["result"]
    assert "2026-07-28" in discovered["supportedVersions"]
    assert bridge.ask_modern("tools/list")["result"]["resultType"] == "complete"


def test_a_gateway_that_hangs_does_not_hold_up_the_handshake(start, gateway: ScriptedGateway) -> None:  # type: ignore[no-untyped-def]
    release = threading.Event()
    bridge = start(PERDURE_URL=gateway.url)

    def script(seen: Seen) -> Reply:
        release.wait(30)
        return stateless(seen)

    gateway.script = script
    try:
        assert bridge.initialize()["result"]["serverInfo"]["name"] == "perdure"
        assert len(bridge.ask("tools/list")["result"]["tools"]) == 10
    finally:
        release.set()


def test_the_start_tool_reports_a_configured_gateway_that_cannot_be_reached(start) -> None:  # type: ignore[no-untyped-def]
    gateway = ScriptedGateway()
    bridge = start(PERDURE_URL=gateway.url)
    result = bridge.ask("tools/call", {"name": "memory_start"})["result"]
    assert result["isError"] is True
    assert "cannot be reached" in result["content"][0]["text"]
    assert gateway.url in result["content"][0]["text"]


def test_the_start_tool_says_when_something_else_answers(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    gateway.script = lambda seen: Reply(status=404)
    result = bridge.ask("tools/call", {"name": "memory_start"})["result"]
    assert "not as Perdure does" in result["content"][0]["text"]


def test_a_gateway_that_stays_away_ends_in_a_sentence() -> None:
    target = Target({"PERDURE_URL": ScriptedGateway().url}, lambda sentence: None)
    transport = Transport(target)
    starter = Starter(target, transport, lambda sentence: None)
    relay = Relay(target, transport, starter, lambda line: None, patience_s=0.3)
    message = parse(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_save"}}')
    answer = json.loads(relay.answer(message, Call(modern=False)))
    assert "cannot be reached" in answer["error"]["message"]
    assert "perdure up" in answer["error"]["message"]


def test_a_useless_address_ends_the_bridge_with_a_sentence(start) -> None:  # type: ignore[no-untyped-def]
    bridge = start(PERDURE_URL="memory.example.org")
    assert bridge.wait() == 2
    assert "PERDURE_URL must look like" in bridge.stderr
    assert bridge.raw == []


@pytest.mark.requirement("SKEL-08")
def test_two_gateways_on_two_ports_do_not_meet(start) -> None:  # type: ignore[no-untyped-def]
    for first in running():
        for second in running():
            one, two = start(PERDURE_URL=first.url), start(PERDURE_URL=second.url)
            one.ask("tools/call", {"name": "memory_search", "arguments": {"who": "one"}})
            two.ask("tools/call", {"name": "memory_search", "arguments": {"who": "two"}})
            assert [seen.body["params"]["arguments"] for seen in first.calls("tools/call")] == [{"who": "one"}]
            assert [seen.body["params"]["arguments"] for seen in second.calls("tools/call")] == [{"who": "two"}]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with the openssl command")
def test_https_is_spoken_to_a_trusted_server_and_refused_at_once_to_another(
    start, gateway: ScriptedGateway, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(
        ["openssl", *make.split(), "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=60,
    )
    gateway.encrypt(certificate, key)
    url = f"https://localhost:{gateway.port}"
    trusting = start(PERDURE_URL=url, SSL_CERT_FILE=str(certificate))
    for _ in range(3):
        assert "result" in trusting.ask("tools/call", {"name": "memory_search"})
    assert gateway.connections == 1
    wary = start(PERDURE_URL=url)
    for method in ("initialize", "tools/call"):
        assert "certificate is not trusted" in wary.ask(method, {"name": "memory_search"})["error"]["message"]
