import base64
import json

import pytest

from perdure.bridge.eras import LegacySession, NotAMessage, header_value, modern_headers, parse

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def line(**message: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def test_a_request_keeps_its_bytes_untouched() -> None:
    raw = b'{ "jsonrpc":"2.0" , "id":"x\\u00e9", "method":"tools/list" }'
    message = parse(raw)
    assert (message.body, message.method, message.request_id, message.modern) == (raw, "tools/list", "xé", False)


def test_a_message_with_a_version_in_its_meta_is_modern() -> None:
    message = parse(line(id=1, method="tools/call", params={"name": "memory_get", "_meta": META}))
    assert message.modern
    assert modern_headers(message) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "memory_get",
    }


def test_a_method_that_names_nothing_gets_no_name_header() -> None:
    message = parse(line(id=1, method="tools/list", params={"name": "ignored", "_meta": META}))
    assert "Mcp-Name" not in modern_headers(message)


def test_a_resource_is_named_by_its_uri() -> None:
    message = parse(line(id=1, method="resources/read", params={"uri": "memory://index", "_meta": META}))
    assert modern_headers(message)["Mcp-Name"] == "memory://index"


@pytest.mark.parametrize("value", ["memory_get", "a b", "memory://x?y=1", ""])
def test_printable_ascii_stands_in_a_header_as_it_is(value: str) -> None:
    assert header_value(value) == value


@pytest.mark.parametrize(
    "value", ["记忆", "é", " edge", "edge ", "a\nb", "a\x00", "=?base64?QQ==?=", "\U0001f9e0", "\x7f"]
)
def test_any_other_name_travels_in_the_base64_sentinel(value: str) -> None:
    carried = header_value(value)
    assert carried.startswith("=?base64?")
    assert carried.endswith("?=")
    assert base64.b64decode(carried[9:-2]).decode() == value


def test_a_lone_surrogate_in_a_name_does_not_fail() -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800","_meta":{}}}')
    assert header_value(message.name or "").startswith("=?base64?")


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1', b"[" * 200_000, b"1" * 5_000, b"nul"],
    ids=["empty", "cut", "not-utf-8", "unfinished", "too-deep", "too-long-a-number", "no-literal"],
)
def test_a_line_that_is_not_json_is_a_parse_error(raw: bytes) -> None:
    with pytest.raises(NotAMessage) as caught:
        parse(raw)
    assert (caught.value.code, caught.value.request_id) == (-32700, None)


@pytest.mark.parametrize(
    ("raw", "request_id"),
    [
        (b"[]", None),
        (line(id=1, method="ping").join([b"[", b"]"]), None),
        (b'"text"', None),
        (b"null", None),
        (line(id=7), 7),
        (line(id=None, method="ping"), None),
        (line(id=True, method="ping"), None),
        (line(id=[1], method="ping"), None),
        (line(id=3, method=5), 3),
        (b'{"id":4,"method":"ping"}', 4),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(raw: bytes, request_id: object) -> None:
    with pytest.raises(NotAMessage) as caught:
        parse(raw)
    assert (caught.value.code, caught.value.request_id) == (-32600, request_id)


def test_a_reply_of_the_host_has_neither_method_nor_request_id() -> None:
    message = parse(line(id=5, result={}))
    assert (message.method, message.request_id) == (None, None)


def test_a_session_repeats_what_the_gateway_agreed_to() -> None:
    session = LegacySession()
    assert session.headers() == {}
    session.begin(parse(line(id=1, method="initialize")))
    session.agree("2025-06-18", "s-1")
    assert session.headers() == {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": "s-1"}
    assert session.generation == 1


def test_a_new_handshake_forgets_the_old_session() -> None:
    session = LegacySession()
    session.agree("2025-06-18", "s-1")
    session.begin(parse(line(id=1, method="initialize")))
    assert session.headers() == {}


def test_a_locally_agreed_version_gives_way_to_the_gateways() -> None:
    session = LegacySession()
    session.agree_locally("2025-11-25")
    assert session.unconfirmed
    session.agree("2025-06-18", None)
    assert not session.unconfirmed
    assert session.headers() == {"MCP-Protocol-Version": "2025-06-18"}


def test_a_late_local_agreement_does_not_undo_the_gateways() -> None:
    session = LegacySession()
    session.agree("2025-06-18", "s-1")
    session.agree_locally("2025-11-25")
    assert session.headers()["MCP-Protocol-Version"] == "2025-06-18"
    assert not session.unconfirmed
