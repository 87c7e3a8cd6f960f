import json
from pathlib import Path

import pytest

from perdure.bridge import catalogue, local
from perdure.bridge.eras import parse

CORE = [
    "memory_sync",
    "memory_save",
    "memory_search",
    "memory_get",
    "memory_update",
    "memory_archive",
    "memory_checkpoint",
    "memory_stats",
    "memory_health",
]


def message(era: str, method: str, **params: object):  # type: ignore[no-untyped-def]
    body, _ = catalogue.request(era, method)
    value = json.loads(body)
    value.setdefault("params", {}).update(params)
    return parse(json.dumps(value).encode())


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_shipped_catalogue_names_the_core_tools(era: str) -> None:
    result = local.Catalogue().result(message(era, "tools/list"))
    assert sorted(tool["name"] for tool in result["tools"]) == sorted(CORE)


def test_the_shipped_catalogue_answers_the_first_question_of_each_era() -> None:
    shipped = local.Catalogue()
    assert shipped.has(message("legacy", "initialize"))
    assert shipped.has(message("modern", "server/discover"))
    assert not shipped.has(message("legacy", "tools/call"))
    assert not shipped.has(message("legacy", "tools/list", cursor="next"))


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2030-01-01", "2025-11-25"), (None, "2025-11-25")],
)
def test_a_local_initialize_agrees_on_a_version_that_exists(asked: object, agreed: str) -> None:
    result = local.Catalogue().result(message("legacy", "initialize", protocolVersion=asked))
    assert result["protocolVersion"] == agreed


def test_a_modern_local_answer_must_not_be_cached() -> None:
    result = local.Catalogue().result(message("modern", "tools/list"))
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (0, "private", "complete")


def test_answering_does_not_change_the_catalogue() -> None:
    shipped = local.Catalogue()
    first = shipped.result(message("modern", "tools/list"))
    first["tools"] = []
    assert shipped.result(message("modern", "tools/list"))["tools"]


def test_an_unknown_modern_version_is_told_the_known_ones() -> None:
    asked = parse(
        b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":'
        b'{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}'
    )
    error = local.Catalogue().unsupported(asked)
    assert error is not None
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


def test_the_start_tool_stands_last_and_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    listed = local.with_start_tool({"tools": [{"name": "memory_start"}, {"name": "memory_get"}], "ttlMs": 5})
    assert [tool["name"] for tool in listed["tools"]] == ["memory_get", "memory_start"]
    assert listed["ttlMs"] == 5


@pytest.mark.requirement("I4-COMPRESS-06")
def test_compressing_is_offered_only_where_claude_code_kept_anything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "projects").mkdir()
    listed = local.with_start_tool({"tools": [{"name": "memory_compress"}, {"name": "memory_get"}]})["tools"]
    assert [tool["name"] for tool in listed] == ["memory_get", "memory_compress", "memory_start"]
    assert listed[1]["annotations"]["destructiveHint"] is True
    assert listed[1]["inputSchema"]["properties"]["dry_run"]["default"] is True


def test_a_page_that_is_not_the_last_gets_no_start_tool() -> None:
    page = {"tools": [], "nextCursor": "more"}
    assert local.with_start_tool(page) is page


def test_only_tools_that_say_so_are_read_only() -> None:
    tools = [
        {"name": "a", "annotations": {"readOnlyHint": True}},
        {"name": "b", "annotations": {"readOnlyHint": "yes"}},
        {"name": "c"},
        "d",
    ]
    assert local.read_only_names(tools) == {"a"}


def test_local_answers_are_one_line_of_ascii_whatever_they_hold() -> None:
    line = local.encode_error("\u2028id", -32000, "two\nlines \ud800 and 记忆")
    assert line.isascii()
    assert b"\n" not in line
    assert json.loads(line)["error"]["message"].startswith("two\nlines")


def test_the_catalogue_is_collected_with_the_methods_that_the_gateway_has() -> None:
    def ask(body: bytes, headers: dict[str, str]) -> dict[str, object]:
        method = json.loads(body)["method"]
        if method.startswith("prompts"):
            return {"error": {"code": -32601}}
        return {"result": {"method": method, "version": headers.get("MCP-Protocol-Version")}}

    collected = catalogue.collect(ask)
    assert set(collected) == {"legacy", "modern"}
    assert "prompts/list" not in collected["legacy"]
    assert collected["legacy"]["initialize"] == {"method": "initialize", "version": None}
    assert collected["modern"]["tools/list"]["version"] == "2026-07-28"


def test_the_shipped_file_has_the_form_that_the_refresh_writes() -> None:
    text = local.CATALOGUE_FILE.read_text(encoding="utf-8")
    assert catalogue.text_of(json.loads(text)) == text
