"""Commands as processes of their own: what imports, pipes, signals and terminals make of them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from integration.cli.test_recalling import answer, item, memory
from support.rest_gateway import Answered, RestGateway

SERVICES = Path(__file__).parents[3] / "services"
COMMAND = [sys.executable, "-m", "perdure.cli"]


def environment(gateway: RestGateway, home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    own = {"PYTHONPATH": str(SERVICES), "PERDURE_PORT": str(gateway.port), "PERDURE_HOME": str(home)}
    return {**kept, **own, **more}


def test_a_search_imports_nothing_heavy(gateway: RestGateway, home: Path) -> None:
    gateway.routes["GET /memories/search"] = answer(item(1))
    program = (
        "import sys; from perdure.cli.main import run; status = run(['search', 'port']);"
        "heavy = {'rich', 'grpc', 'pydantic', 'pydantic_settings', 'numpy', 'structlog', 'google', 'perdure.domain',"
        "'perdure.settings', 'asyncio', 'honcho'}; print(sorted(heavy & set(sys.modules)), file=sys.stderr);"
        "sys.exit(status)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment(gateway, home), capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.strip()) == (0, "[]")


def test_text_comes_through_a_pipe_byte_for_byte(gateway: RestGateway, home: Path) -> None:
    gateway.routes["POST /memories"] = Answered({"id": "x", "outcome": "created"}, 201)
    text = "- first\n\t二 é 🧠\n"
    ran = subprocess.run(
        [*COMMAND, "add", "-"], env=environment(gateway, home), input=text.encode(), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert gateway.last.body["content"] == text.rstrip("\n")


def test_a_reader_that_goes_away_is_no_error_message(gateway: RestGateway, home: Path) -> None:
    lines = b"".join(b'{"id": "%06d"}\n' % number for number in range(60_000))
    gateway.routes["GET /memories/export"] = Answered(raw=lines)
    process = subprocess.Popen(
        [*COMMAND, "export"], env=environment(gateway, home), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == b'{"id": "000000"}\n'
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_ctrl_c_is_130_and_silent(gateway: RestGateway, home: Path) -> None:
    running = {"id": "j1", "kind": "reembed", "state": "running", "done": 1, "total": 9}
    gateway.routes["POST /maintenance/jobs"] = running
    gateway.routes["GET /maintenance/jobs/j1"] = running
    process = subprocess.Popen(
        [*COMMAND, "reembed"], env=environment(gateway, home), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        deadline = time.monotonic() + 30
        while len(gateway.asked) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert b"goes on in the background" in process.stderr.read()


@pytest.mark.requirement("CLI-04")
def test_a_mistyped_command_is_answered_with_the_right_one(gateway: RestGateway, home: Path) -> None:
    ran = subprocess.run(
        [*COMMAND, "serch", "x"], env=environment(gateway, home), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "'search'" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_version_and_help_need_no_gateway(gateway: RestGateway, home: Path) -> None:
    for arguments in (["--version"], ["--help"], [], ["completion", "zsh"], ["token", "--help"]):
        ran = subprocess.run(
            [*COMMAND, *arguments], env=environment(gateway, home), capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout
    assert gateway.asked == []


def on_a_terminal(arguments: list[str], env: dict[str, str]) -> bytes:
    """What a command writes when its output is a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([*COMMAND, *arguments], env=env, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    written = b""
    deadline = time.monotonic() + 30
    with contextlib.suppress(OSError):  # a terminal whose other side is gone reads as an error
        while time.monotonic() < deadline and select.select([leader], [], [], deadline - time.monotonic())[0]:
            piece = os.read(leader, 65536)
            if not piece:
                break
            written += piece
    process.wait(30)
    os.close(leader)
    return written


@pytest.mark.parametrize("no_colour", [False, True])
@pytest.mark.requirement("CLI-05")
def test_a_terminal_gets_a_table_and_colour_unless_it_wants_none(
    gateway: RestGateway, home: Path, no_colour: bool
) -> None:
    gateway.routes["GET /memories"] = {"memories": [memory(1)]}
    gateway.routes["GET /memories/search"] = answer(item(1))
    more = {"NO_COLOR": "1"} if no_colour else {}
    env = environment(gateway, home, TERM="xterm-256color", COLUMNS="200", **more)
    listed = on_a_terminal(["list"], env)
    assert "summary" in listed.decode()
    assert (b"\x1b[" in on_a_terminal(["search", "x"], env)) is not no_colour


def test_json_on_a_terminal_is_still_json(gateway: RestGateway, home: Path) -> None:
    gateway.routes["GET /memories"] = {"memories": [memory(1)]}
    written = on_a_terminal(["list", "--json"], environment(gateway, home, TERM="xterm"))
    assert json.loads(written)["memories"][0]["id"] == "0197-1"


def test_nothing_listening_is_a_sentence_with_the_next_step(gateway: RestGateway, home: Path) -> None:
    gateway.stop()
    ran = subprocess.run(
        [*COMMAND, "search", "x"], env=environment(gateway, home), capture_output=True, text=True, check=False
    )
    gateway.__init__()  # type: ignore[misc]  # so that the fixture has something to stop
    gateway.start()
    assert ran.returncode == 5
    assert "perdure up --detach" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_long_work_shows_a_bar_on_a_terminal_and_nothing_elsewhere(gateway: RestGateway, home: Path) -> None:
    running = {"id": "j1", "kind": "reembed", "state": "running", "done": 3, "total": 9, "message": ""}
    answers = iter([running, {**running, "state": "succeeded", "done": 9, "message": "9 embedded"}])
    gateway.routes["POST /maintenance/jobs"] = running
    gateway.routes["GET /maintenance/jobs/j1"] = lambda _asked: next(answers)
    written = on_a_terminal(["reembed"], environment(gateway, home, TERM="xterm"))
    assert b"Embedding [#########" in written
    assert b"3/9" in written
    assert b"9 embedded" in written
    gateway.routes["GET /maintenance/jobs/j1"] = {**running, "state": "succeeded", "message": "9 embedded"}
    ran = subprocess.run([*COMMAND, "reembed"], env=environment(gateway, home), capture_output=True, check=False)
    assert ran.stderr == b""
    assert ran.stdout == b"succeeded: 9 embedded\n"


def test_purge_asks_on_a_terminal_and_takes_no_for_no(gateway: RestGateway, home: Path) -> None:
    gateway.routes["GET /memories/0197-1"] = memory(1)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "purge", "0197-1"],
        env=environment(gateway, home, TERM="xterm"),
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    os.write(leader, b"n\n")
    assert process.wait(30) == 1
    os.close(leader)
    assert [asked.method for asked in gateway.asked] == ["GET"]
