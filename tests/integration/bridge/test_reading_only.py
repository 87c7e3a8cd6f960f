"""A bridge that only reads: the host gets no tool that writes, with the gateway there and without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.bridge_process import COMMAND, BridgeProcess
from support.scripted_gateway import ScriptedGateway

Start = Callable[..., BridgeProcess]


def tool_names(answer: dict) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


@pytest.fixture(params=["variable", "option", "settings file"])
def reading(request: pytest.FixtureRequest, start: Start, gateway: ScriptedGateway, tmp_path: Path) -> BridgeProcess:
    """A bridge told in each of the ways to only read."""
    match request.param:
        case "variable":
            bridge = start(PERDURE_URL=gateway.url, PERDURE_READONLY="1")
        case "option":
            bridge = start([*COMMAND, "--readonly"], PERDURE_URL=gateway.url)
        case _:
            (tmp_path / "home").mkdir()
            (tmp_path / "home" / "config.env").write_text("PERDURE_READONLY=yes\n", encoding="utf-8")
            bridge = start(PERDURE_URL=gateway.url)
    assert "error" in bridge.ask("no/such/method")
    bridge.raw.clear()
    return bridge


@pytest.mark.requirement("I4-READONLY-01")
def test_a_tool_that_writes_is_not_listed_and_never_reaches_the_gateway(
    reading: BridgeProcess, gateway: ScriptedGateway
) -> None:
    reading.initialize()
    assert tool_names(reading.ask("tools/list")) == ["memory_search"]
    assert tool_names(reading.ask_modern("tools/list")) == ["memory_search"]
    for name in ("memory_save", "memory_start", "memory_compress", "nonesuch"):
        answer = reading.ask("tools/call", {"name": name, "arguments": {"content": "x"}})["result"]
        assert answer["isError"] is True
        assert f"only reads, so {name} is not carried out" in answer["content"][0]["text"]
    assert reading.ask_modern("tools/call", {"name": "memory_save"})["result"]["resultType"] == "complete"
    assert gateway.calls("tools/call") == []


@pytest.mark.requirement("I4-READONLY-02")
def test_the_gateway_is_told_so_that_it_refuses_too(reading: BridgeProcess, gateway: ScriptedGateway) -> None:
    assert "isError" in reading.ask("tools/call", {"name": "memory_search", "arguments": {"query": "x"}})["result"]
    (seen,) = gateway.calls("tools/call")
    assert seen.headers["perdure-readonly"] == "1"


@pytest.mark.requirement("I4-READONLY-01")
def test_without_the_gateway_the_catalogue_has_reading_tools_alone(start: Start, gateway: ScriptedGateway) -> None:
    gateway.stop()
    bridge = start(PERDURE_URL=gateway.url, PERDURE_READONLY="1")
    told = bridge.initialize()["result"]["instructions"]
    assert "only reads" in told
    assert "memory_save" not in told
    assert tool_names(bridge.ask("tools/list")) == [
        "memory_sync",
        "memory_search",
        "memory_get",
        "memory_stats",
        "memory_health",
    ]


def test_a_bridge_that_may_write_asks_for_nothing_less(bridge: BridgeProcess, gateway: ScriptedGateway) -> None:
    bridge.ask("tools/call", {"name": "memory_save", "arguments": {}})
    assert "perdure-readonly" not in gateway.calls("tools/call")[0].headers
