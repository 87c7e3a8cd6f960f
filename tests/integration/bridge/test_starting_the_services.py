"""The bridge starts the local services when nothing answers and nothing else is configured, and only then, and once."""

from __future__ import annotations

import stat
import sys
import threading
from pathlib import Path

import pytest

from support.scripted_gateway import ScriptedGateway

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for `perdure` is a script with a #! line")

RECORDS = """#!{python}
import os, pathlib, sys
with (pathlib.Path(os.environ["PERDURE_HOME"]) / "starts").open("a") as file:
    file.write(" ".join(sys.argv[1:]) + f" own-session={{os.getsid(0) == os.getpid()}}\\n")
"""
FAILS = """#!{python}
import sys
print("noise")
sys.exit("The port 3456 is taken by another program.")
"""


class Installation:
    """An interpreter with a stand-in for the `perdure` script beside it, and a home."""

    def __init__(self, where: Path, script: str) -> None:
        self.home = where / "home"
        self.home.mkdir(mode=0o700)
        self.binaries = where / "bin"
        self.binaries.mkdir()
        self.python = self.binaries / "python"
        self.python.symlink_to(sys.executable)
        self.perdure = self.binaries / "perdure"
        self.perdure.write_text(script.format(python=sys.executable))
        self.perdure.chmod(0o755)

    @property
    def command(self) -> list[str]:
        return [str(self.python), "-m", "perdure.bridge.main"]

    def starts(self) -> list[str]:
        file = self.home / "starts"
        return file.read_text().splitlines() if file.exists() else []

    def wait_for_start(self) -> None:
        """Until the start command has run; polling with a bound, since the file is another process's."""
        pause = threading.Event()
        for _ in range(1000):
            if self.starts():
                return
            pause.wait(0.02)
        raise AssertionError("the services were not started")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path, RECORDS)


@pytest.fixture
def broken(tmp_path: Path) -> Installation:
    return Installation(tmp_path, FAILS)


def settings(installation: Installation, gateway: ScriptedGateway, **more: str) -> dict[str, str]:
    return {
        "PERDURE_HOME": str(installation.home),
        "PERDURE_PORT": str(gateway.port),
        "PERDURE_AUTOSTART": "",
        **more,
    }


@pytest.fixture
def absent():  # type: ignore[no-untyped-def]
    """A gateway that is not there yet."""
    gateway = ScriptedGateway()
    yield gateway
    gateway.stop()


@pytest.mark.requirement("BRIDGE-06")
def test_the_first_question_starts_them_and_is_answered_meanwhile(start, installation, absent) -> None:  # type: ignore[no-untyped-def]
    bridge = start(installation.command, **settings(installation, absent))
    assert bridge.initialize()["result"]["serverInfo"]["name"] == "perdure"
    assert bridge.ask("tools/list")["result"]["tools"]
    waiting = bridge.send("tools/call", {"name": "memory_save", "arguments": {}})
    installation.wait_for_start()
    absent.start()
    answer = bridge.receive()
    assert answer["id"] == waiting
    assert "result" in answer
    assert installation.starts() == ["up --detach own-session=True"]


@pytest.mark.requirement("BRIDGE-06")
def test_several_bridges_start_them_once(start, installation, absent) -> None:  # type: ignore[no-untyped-def]
    bridges = [start(installation.command, **settings(installation, absent)) for _ in range(5)]
    for bridge in bridges:
        bridge.send("tools/call", {"name": "memory_search", "arguments": {}})
    installation.wait_for_start()
    absent.start()
    assert all("result" in bridge.receive() for bridge in bridges)
    assert len(installation.starts()) == 1


def test_a_bridge_that_follows_a_vanished_one_does_not_start_them_again(start, installation, absent) -> None:  # type: ignore[no-untyped-def]
    first = start(installation.command, **settings(installation, absent))
    first.initialize()
    installation.wait_for_start()
    first.end_input()
    first.wait()
    second = start(installation.command, **settings(installation, absent))
    second.initialize()
    second.send("tools/call", {"name": "memory_search", "arguments": {}})
    absent.start()
    assert "result" in second.receive()
    assert len(installation.starts()) == 1


def test_services_that_run_are_not_started(start, installation, gateway) -> None:  # type: ignore[no-untyped-def]
    bridge = start(installation.command, **settings(installation, gateway))
    bridge.initialize()
    result = bridge.ask("tools/call", {"name": "memory_start"})["result"]
    assert "is running" in result["content"][0]["text"]
    assert installation.starts() == []


@pytest.mark.parametrize("forbids", ["PERDURE_AUTOSTART", "PERDURE_URL", "PERDURE_TOKEN"])
@pytest.mark.requirement("BRIDGE-06")
def test_any_other_configuration_forbids_starting(start, installation, absent, forbids: str) -> None:  # type: ignore[no-untyped-def]
    value = {"PERDURE_AUTOSTART": "0", "PERDURE_URL": absent.url, "PERDURE_TOKEN": "pdr_a_b"}[forbids]
    bridge = start(installation.command, **settings(installation, absent, **{forbids: value}))
    bridge.initialize()
    result = bridge.ask("tools/call", {"name": "memory_start"})["result"]
    assert result["isError"] is True
    assert "cannot be reached" in result["content"][0]["text"]
    assert installation.starts() == []
    assert not (installation.home / "run").exists()


@pytest.mark.requirement("BRIDGE-08")
def test_the_start_tool_starts_them_waits_and_says_so(start, installation, absent) -> None:  # type: ignore[no-untyped-def]
    bridge = start(installation.command, **settings(installation, absent))
    bridge.send("tools/call", {"name": "memory_start"})
    installation.wait_for_start()
    absent.start()
    result = bridge.receive()["result"]
    assert result["isError"] is False
    assert "are started" in result["content"][0]["text"]


def test_a_start_that_fails_is_reported_with_its_reason(start, broken, absent) -> None:  # type: ignore[no-untyped-def]
    bridge = start(broken.command, **settings(broken, absent))
    result = bridge.ask("tools/call", {"name": "memory_start"})["result"]
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert "The port 3456 is taken by another program." in text
    assert "perdure doctor" in text


def test_a_start_may_be_tried_again_by_the_tool(start, broken, absent) -> None:  # type: ignore[no-untyped-def]
    bridge = start(broken.command, **settings(broken, absent))
    bridge.ask("tools/call", {"name": "memory_start"})
    broken.perdure.write_text(RECORDS.format(python=sys.executable))
    bridge.send("tools/call", {"name": "memory_start"})
    broken.wait_for_start()
    absent.start()
    assert bridge.receive()["result"]["isError"] is False


def test_what_it_leaves_in_the_home_is_private(start, installation, absent) -> None:  # type: ignore[no-untyped-def]
    bridge = start(installation.command, **settings(installation, absent))
    bridge.initialize()
    installation.wait_for_start()
    found = {
        path.relative_to(installation.home).as_posix(): path.stat().st_mode for path in installation.home.rglob("*")
    }
    assert stat.S_IMODE(found["run"]) == 0o700
    assert stat.S_IMODE(found["logs"]) == 0o700
    assert stat.S_IMODE(found["run/bridge-start.lock"]) == 0o600
    assert stat.S_IMODE(found["logs/bridge-start.log"]) == 0o600


def test_a_home_that_cannot_be_written_is_a_sentence(start, tmp_path: Path, absent) -> None:  # type: ignore[no-untyped-def]
    installation = Installation(tmp_path, RECORDS)
    file = tmp_path / "a-file"
    file.write_text("")
    bridge = start(installation.command, **settings(installation, absent, PERDURE_HOME=str(file)))
    result = bridge.ask("tools/call", {"name": "memory_start"})["result"]
    assert result["isError"] is True
    assert "could not be started" in result["content"][0]["text"]
