"""What a host sends arrives, and what the gateway answers comes back, in both eras."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from support.bridge_process import MODERN_META, BridgeProcess
from support.scripted_gateway import Reply, ScriptedGateway, Seen, event, result, stateless


def tool_names(answer: dict) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


def test_a_legacy_session_carries_the_agreed_version_and_the_session_id(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    def script(seen: Seen) -> Reply:
        reply = stateless(seen)
        opening = seen.verb == "POST" and seen.body.get("method") == "initialize"
        return Reply(body=reply.body, status=reply.status, headers={"Mcp_Session_Id": "s-1"} if opening else {})

    gateway.script = script
    answer = bridge.initialize("2025-06-18")
    assert answer["result"]["serverInfo"]["name"] == "scripted"
    bridge.ask("ping")
    opening = gateway.calls("initialize")[0].headers
    assert "mcp-protocol-version" not in opening
    assert "mcp-session-id" not in opening
    for seen in (gateway.wait_for("notifications/initialized")[0], gateway.calls("ping")[0]):
        assert (seen.headers["mcp-protocol-version"], seen.headers["mcp-session-id"]) == ("2025-06-18", "s-1")


@pytest.mark.requirement("BRIDGE-02")
def test_a_modern_request_gets_its_headers_from_its_body(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    bridge.ask_modern("tools/call", {"name": "память", "arguments": {}})
    headers = gateway.calls("tools/call")[0].headers
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert headers["mcp-method"] == "tools/call"
    assert headers["mcp-name"] == "=?base64?0L/QsNC80Y/RgtGM?="
    assert "mcp-session-id" not in headers


def test_both_eras_may_share_one_process(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    bridge.ask_modern("server/discover")
    bridge.initialize()
    bridge.ask("ping")
    bridge.ask_modern("tools/call", {"name": "memory_search"})
    assert gateway.calls("ping")[0].headers["mcp-protocol-version"] == "2025-11-25"
    assert gateway.calls("tools/call")[0].headers["mcp-protocol-version"] == "2026-07-28"


@pytest.mark.requirement("BRIDGE-02")
def test_bodies_are_forwarded_byte_for_byte(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    text = '"记忆 \\ud83e\\udde0 🧠"'
    head = '{"id" : "ü\\u00fc" ,"jsonrpc":"2.0", "method":"tools/call","params":'
    raw = head + '{"name":"x","arguments":{"t":' + text + "}}}"
    bridge.send_bytes(raw.encode())
    answer = bridge.receive()
    assert gateway.calls("tools/call")[0].raw == raw.encode()
    assert answer["id"] == "üü"
    assert json.loads(answer["result"]["content"][0]["text"]) == {"t": "记忆 🧠 🧠"}


@pytest.mark.parametrize("text", ["line\nbreak", "\u2028\u2029\u0085", "a\r\nb", "\U0001f9e0", "\x00"])
@pytest.mark.requirement("BRIDGE-05")
def test_every_text_arrives_on_one_line(bridge: BridgeProcess, text: str) -> None:
    answer = bridge.ask("tools/call", {"name": "memory_search", "arguments": {"text": text}})
    assert json.loads(answer["result"]["content"][0]["text"]) == {"text": text}
    assert len(bridge.raw) == 1


def test_an_indented_answer_becomes_one_line(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    gateway.script = lambda seen: Reply(
        body=json.dumps({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"a": ["b\n"]}}, indent=2).encode()
    )
    assert bridge.ask("resources/list")["result"] == {"a": ["b\n"]}
    assert len(bridge.raw) == 1


@pytest.mark.requirement("BRIDGE-08")
def test_the_start_tool_is_added_to_the_gateways_list(bridge: BridgeProcess) -> None:
    assert tool_names(bridge.ask("tools/list")) == ["memory_search", "memory_save", "memory_start"]
    assert tool_names(bridge.ask_modern("tools/list")) == ["memory_search", "memory_save", "memory_start"]


def test_the_start_tool_is_answered_locally(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    answer = bridge.ask_modern("tools/call", {"name": "memory_start", "arguments": {}})
    assert answer["result"]["isError"] is False
    assert answer["result"]["resultType"] == "complete"
    assert "Memory is ready" in answer["result"]["content"][0]["text"]
    assert gateway.calls("tools/call") == []


def test_notifications_of_a_stream_come_before_its_answer(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    first_read = threading.Event()

    def events(seen: Seen) -> Iterator[bytes]:
        yield b": ping\r\n\r\n"
        yield b"id: 1\nretry: 5\ndata:\n\n"
        yield event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
        assert first_read.wait(10)
        head, tail = '{"jsonrpc": "2.0", "method": "notifications/message",', '"params": {"data": "é"}}'
        yield f"data: {head}\ndata: {tail}\n".encode()
        yield b"\n"
        yield event({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"done": True}})

    gateway.script = lambda seen: Reply(events=events(seen)) if seen.verb == "POST" else stateless(seen)
    request_id = bridge.send("tools/call", {"name": "memory_search"})
    assert bridge.receive()["method"] == "notifications/progress"
    first_read.set()
    assert bridge.receive()["params"] == {"data": "é"}
    assert bridge.receive() == {"jsonrpc": "2.0", "id": request_id, "result": {"done": True}}


def test_the_start_tool_is_added_to_a_streamed_list_too(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    gateway.script = lambda seen: Reply(
        events=[event({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"tools": [{"name": "x"}]}})]
    )
    assert tool_names(bridge.ask("tools/list")) == ["x", "memory_start"]


def test_a_stream_that_ends_without_an_answer_is_an_error_for_what_must_not_be_repeated(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    gateway.script = lambda seen: Reply(events=[b": ping\n\n"])
    answer = bridge.ask("tools/call", {"name": "memory_save", "arguments": {}})
    assert "may have been carried out" in answer["error"]["message"]
    assert len(gateway.calls("tools/call")) == 1


def test_connections_are_kept_alive(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    for _ in range(10):
        bridge.ask("tools/call", {"name": "memory_search"})
    assert gateway.connections == 1


def test_streamed_answers_keep_their_connection_too(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    gateway.script = lambda seen: Reply(events=[event({"jsonrpc": "2.0", "id": seen.body["id"], "result": {}})])
    for _ in range(5):
        bridge.ask("tools/call", {"name": "memory_search"})
    assert gateway.connections == 1


def test_twenty_requests_are_in_flight_together_and_each_gets_its_own_answer(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    everyone = threading.Barrier(20)

    def script(seen: Seen) -> Reply:
        everyone.wait(20)
        return result(seen, {"echo": seen.body["params"]["arguments"]["n"]})

    gateway.script = script
    sent = {bridge.send("tools/call", {"name": "memory_search", "arguments": {"n": n}}): n for n in range(20)}
    answers = [bridge.receive() for _ in range(20)]
    assert {answer["id"]: answer["result"]["echo"] for answer in answers} == sent


def test_ids_of_different_kinds_do_not_meet(bridge: BridgeProcess) -> None:
    bridge.send("ping", request_id=1)
    bridge.send("ping", request_id="1")
    assert {repr(bridge.receive()["id"]) for _ in range(2)} == {"1", "'1'"}


def test_a_reply_of_the_host_reaches_the_gateway(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    bridge.initialize()
    bridge.send_bytes(b'{"jsonrpc":"2.0","id":9,"result":{"action":"accept"}}')
    bridge.ask("ping")
    assert gateway.wait_for("notifications/initialized")
    with gateway._changed:
        assert gateway._changed.wait_for(lambda: "reply" in gateway.methods(), 10)


def test_cancelling_a_legacy_request_is_passed_on_and_nothing_is_answered(
    bridge: BridgeProcess, gateway: ScriptedGateway
) -> None:
    release = threading.Event()

    def script(seen: Seen) -> Reply:
        if seen.verb == "POST" and seen.body.get("method") == "tools/call":
            release.wait(20)
        return stateless(seen)

    gateway.script = script
    bridge.initialize()
    request_id = bridge.send("tools/call", {"name": "memory_search"})
    gateway.wait_for("tools/call")
    bridge.notify("notifications/cancelled", {"requestId": request_id})
    assert gateway.wait_for("notifications/cancelled")[0].body["params"] == {"requestId": request_id}
    release.set()
    bridge.ask("ping")


def test_cancelling_a_modern_request_closes_its_stream(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    closed = threading.Event()

    def events() -> Iterator[bytes]:
        try:
            while True:
                yield b": ping\n\n" * 1000
        except GeneratorExit:
            closed.set()
            raise

    gateway.script = lambda seen: Reply(events=events()) if seen.body.get("method") == "tools/call" else stateless(seen)
    request_id = bridge.send("tools/call", {"name": "memory_search", "_meta": MODERN_META})
    gateway.wait_for("tools/call")
    bridge.notify("notifications/cancelled", {"requestId": request_id})
    assert closed.wait(10)
    bridge.ask_modern("tools/call2")
    assert gateway.calls("notifications/cancelled") == []


def test_a_late_cancellation_of_a_modern_session_is_swallowed(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    bridge.ask_modern("tools/list")
    bridge.notify("notifications/cancelled", {"requestId": 1})
    bridge.ask_modern("tools/list")
    assert gateway.calls("notifications/cancelled") == []


@pytest.mark.parametrize(
    ("line", "code"),
    [(b"{", -32700), (b"\xff", -32700), (b"[]", -32600), (b'{"jsonrpc":"2.0"}', -32600), (b"x" * (9 << 20), -32600)],
    ids=["cut", "not-utf-8", "batch", "no-method", "too-large"],
)
def test_a_bad_line_is_answered_and_the_next_one_works(bridge: BridgeProcess, line: bytes, code: int) -> None:
    bridge.send_bytes(line)
    answer = bridge.receive()
    assert (answer["error"]["code"], answer["id"]) == (code, None)
    assert bridge.ask("ping")["result"] == {}


def test_empty_lines_and_windows_line_ends_are_fine(bridge: BridgeProcess) -> None:
    bridge.send_bytes(b"")
    bridge.send_bytes(b"  \r")
    bridge.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r')
    assert bridge.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_large_message_passes_both_ways(bridge: BridgeProcess) -> None:
    text = "é" * 1_000_000
    answer = bridge.ask("tools/call", {"name": "memory_search", "arguments": {"text": text}})
    assert json.loads(answer["result"]["content"][0]["text"])["text"] == text
