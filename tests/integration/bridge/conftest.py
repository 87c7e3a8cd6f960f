from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.bridge_process import BridgeProcess
from support.scripted_gateway import ScriptedGateway, running

Start = Callable[..., BridgeProcess]


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    yield from running()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts bridges with a home of their own and ends them with the test."""
    started: list[BridgeProcess] = []

    def begin(command: list[str] | None = None, **variables: str) -> BridgeProcess:
        bridge = BridgeProcess(command, **{"PERDURE_HOME": str(tmp_path / "home"), **variables})
        started.append(bridge)
        return bridge

    yield begin
    for bridge in started:
        bridge.__exit__(None, None, None)


@pytest.fixture
def bridge(start: Start, gateway: ScriptedGateway) -> BridgeProcess:
    """A bridge that has met the scripted gateway, so that on a busy machine it does not answer in its stead."""
    bridge = start(PERDURE_URL=gateway.url)
    assert "error" in bridge.ask("no/such/method")
    bridge.raw.clear()
    return bridge
