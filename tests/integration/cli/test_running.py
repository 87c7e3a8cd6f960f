"""``up``, ``down``, ``status`` and ``logs`` over small Procfiles: real processes, none of them Perdure's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.cli.running import Lock, birth, held
from support.stack import free_port, wait_until

SERVICES = Path(__file__).parents[3] / "services"

GATEWAY = """
import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        known = {"/readyz": {"status": "ready", "dependencies": {}}, "/memories/stats": {"active": 7}}
        self.send_response(200 if self.path in known else 404)
        self.end_headers()
        self.wfile.write(json.dumps(known.get(self.path, {})).encode())

    def log_message(self, *words):
        print("answered", self.path, flush=True)

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PERDURE_PORT"])), Handler).serve_forever()
"""


class Home:
    """A home, a port and a Procfile of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "called-from"
        self.folder.mkdir()
        self.home = folder / "home"
        self.port = free_port()
        self.procfile = folder / "Procfile"
        (folder / "gateway.py").write_text(GATEWAY)
        self.processes = {"sleeper": "sleep 600", "gateway": f"python {folder / 'gateway.py'}"}
        self.started: list[subprocess.Popen[str]] = []

    def command(self, *arguments: str) -> list[str]:
        lines = [f"{name}: {command}\n" for name, command in self.processes.items()]
        self.procfile.write_text("".join(lines))
        more = ["--procfile", str(self.procfile)] if arguments[0] == "up" else []
        return [sys.executable, "-P", "-m", "perdure.cli", *arguments, *more]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {"PERDURE_HOME": str(self.home), "PERDURE_PORT": str(self.port), "PYTHONPATH": str(SERVICES)}
        return {**kept, **own, **more}

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env=self.environment(**more),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self) -> subprocess.Popen[str]:
        """`perdure up` in the foreground; ready when this returns."""
        out = (self.home.parent / "foreground.log").open("w")
        process = subprocess.Popen(
            self.command("up"), env=self.environment(), stdout=out, stderr=subprocess.STDOUT, text=True
        )
        out.close()
        self.started.append(process)
        wait_until(lambda: "Perdure is ready" in self.said(), what=f"readiness ({self.said()})")
        return process

    def said(self) -> str:
        return (self.home.parent / "foreground.log").read_text()

    def state(self) -> dict[str, Any]:
        path = self.home / "run" / "processes.json"
        return dict(json.loads(path.read_text())) if path.exists() else {"processes": {}}

    def pid(self, name: str) -> int | None:
        pid = self.state()["processes"].get(name, {}).get("pid")
        return int(pid) if pid else None

    def end(self) -> None:
        self.run("down")
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait(30)


@pytest.fixture
def perdure(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.end()


def gone(pid: int) -> Callable[[], bool]:
    return lambda: birth(pid) == ""


@pytest.mark.e2e
@pytest.mark.requirement("CLI-06")
def test_up_says_when_it_is_ready_and_a_signal_stops_everything(perdure: Home) -> None:
    process = perdure.start()
    ready = next(line for line in perdure.said().splitlines() if "is ready" in line)
    assert f"http://127.0.0.1:{perdure.port} (7 memories)" in ready
    assert "Ctrl-C stops" in ready
    pids = [pid for name in perdure.processes if (pid := perdure.pid(name))]
    assert len(pids) == 2
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert perdure.said().splitlines()[-1] == "Perdure is stopped."
    for pid in pids:
        assert gone(pid)()
    assert not (perdure.home / "run" / "processes.json").exists()
    assert not held(perdure.home / "run")
    for folder in (perdure.home, perdure.home / "run", perdure.home / "logs"):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.e2e
@pytest.mark.requirement("CLI-06")
def test_a_process_that_is_killed_is_started_again_and_counted(perdure: Home) -> None:
    perdure.start()
    first = perdure.pid("sleeper")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: perdure.pid("sleeper") not in (None, first), what="a new sleeper")
    assert perdure.state()["processes"]["sleeper"]["restarts"] == 1
    assert "sleeper ended (by SIGKILL); starting it again" in perdure.said()
    shown = json.loads(perdure.run("status", "--json").stdout)
    assert shown["processes"]["sleeper"]["restarts"] == 1
    assert shown["ready"] is True
    assert "was started again once" in perdure.run("doctor").stdout


@pytest.mark.e2e
def test_a_process_that_leaves_children_behind_is_started_again_without_them(perdure: Home) -> None:
    perdure.processes["parent"] = "sh -c 'sleep 601 & echo child $!; wait'"
    perdure.start()
    wait_until(lambda: "child " in perdure.said(), what="the child")
    child = int(perdure.said().partition("child ")[2].split()[0])
    parent = perdure.pid("parent")
    assert parent is not None
    os.kill(parent, signal.SIGKILL)
    wait_until(lambda: perdure.pid("parent") not in (None, parent), what="a new parent")
    assert gone(child)()


@pytest.mark.e2e
def test_a_second_start_with_the_same_home_is_refused(perdure: Home) -> None:
    perdure.start()
    for arguments in (["up"], ["up", "--detach"]):
        ran = perdure.run(*arguments)
        assert ran.returncode == 1
        assert "running already" in ran.stderr
        assert "perdure down" in ran.stderr
    assert json.loads(perdure.run("status", "--json").stdout)["running"] is True


@pytest.mark.e2e
@pytest.mark.requirement("CLI-06")
def test_detach_returns_when_ready_and_down_stops_it(perdure: Home) -> None:
    ran = perdure.run("up", "--detach")
    assert ran.returncode == 0, ran.stderr
    assert "Perdure is ready at" in ran.stdout
    pid = perdure.state()["pid"]
    sleeper = perdure.pid("sleeper")
    assert sleeper is not None
    assert os.getsid(pid) == pid
    status = perdure.run("status")
    assert status.returncode == 0
    assert "sleeper" in status.stdout
    logs = perdure.run("logs", "gateway", "-n", "1")
    assert len(logs.stdout.splitlines()) == 1
    assert "answered" in logs.stdout
    assert perdure.run("logs", "nobody").returncode == 3
    down = perdure.run("down")
    assert down.returncode == 0
    assert "stopped" in down.stdout
    assert gone(pid)()
    assert gone(sleeper)()
    assert "not running" in perdure.run("down").stdout


@pytest.mark.e2e
def test_what_a_killed_supervisor_leaves_is_seen_and_cleaned_before_the_next_start(perdure: Home) -> None:
    # it ignores the signal that Linux sends it when its parent dies
    perdure.processes["stubborn"] = "sh -c 'trap \"\" TERM; while :; do sleep 600; done'"
    process = perdure.start()
    left = perdure.pid("stubborn")
    assert left is not None
    process.kill()
    process.wait(30)
    status = perdure.run("status")
    assert status.returncode == 5
    assert "left stubborn behind" in status.stdout
    assert not gone(left)()
    del perdure.processes["stubborn"]
    perdure.start()
    assert gone(left)()
    assert "had left stubborn behind" in perdure.said()


@pytest.mark.e2e
def test_a_state_file_that_names_a_stranger_ends_nobody(perdure: Home) -> None:
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        (perdure.home / "run").mkdir(parents=True, mode=0o700)
        entry = {"pid": stranger.pid, "born": "another-boot/1", "since": 0, "restarts": 0}
        state = {"pid": 999_999, "born": "x", "since": 0, "url": "", "detached": False, "processes": {"worker": entry}}
        (perdure.home / "run" / "processes.json").write_text(json.dumps(state))
        perdure.start()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.e2e
def test_a_taken_port_is_refused_by_name(perdure: Home) -> None:
    other = Home(perdure.home.parent / "other") if (perdure.home.parent / "other").mkdir() is None else perdure
    try:
        other.start()
        perdure.port = other.port
        for arguments in (["up"], ["up", "--detach"]):
            ran = perdure.run(*arguments)
            assert ran.returncode == 1
            assert f"Port {perdure.port} is taken" in ran.stderr
            assert "PERDURE_PORT" in ran.stderr
    finally:
        other.end()


@pytest.mark.e2e
def test_a_start_that_fails_at_once_says_why(perdure: Home) -> None:
    open_to_all = perdure.run("up", "--detach", PERDURE_BIND="0.0.0.0")
    assert open_to_all.returncode == 2
    assert "PERDURE_AUTH=token" in open_to_all.stderr
    ran = perdure.run("up", "--detach", PERDURE_BIND="203.0.113.7", PERDURE_AUTH="token")
    assert ran.returncode == 1
    assert "PERDURE_BIND" in ran.stderr
    assert perdure.run("up", PERDURE_PORT="many").returncode == 2


@pytest.mark.e2e
def test_a_command_waits_for_a_gateway_that_is_started_again(perdure: Home) -> None:
    perdure.start()
    gateway = perdure.pid("gateway")
    assert gateway is not None
    os.kill(gateway, signal.SIGKILL)
    ran = perdure.run("stats", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {"active": 7}


@pytest.mark.e2e
def test_a_start_whose_gateway_keeps_ending_names_it_and_does_not_wait_for_ever(perdure: Home) -> None:
    perdure.processes["gateway"] = "sh -c 'echo no luck; exit 3'"
    ran = perdure.run("up", "--detach")
    assert ran.returncode == 5
    assert "gateway keeps ending" in ran.stderr
    assert "no luck" in perdure.run("logs", "gateway").stdout


@pytest.mark.e2e
def test_what_nobody_waits_for_is_started_when_the_others_are_ready(perdure: Home) -> None:
    perdure.processes["worker"] = "sleep 603"
    perdure.start()
    wait_until(lambda: perdure.pid("worker"), what="the worker")
    assert perdure.run("up", "--detach").returncode == 1
    assert perdure.run("down").returncode == 0


@pytest.mark.e2e
def test_modules_of_the_folder_it_is_called_from_are_not_ours(perdure: Home) -> None:
    for name in ("click", "honcho", "http"):
        (perdure.folder / f"{name}.py").write_text("raise SystemExit('shadowed')")
    ran = perdure.run("up", "--detach")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.e2e
@pytest.mark.requirement("JOB-04")
def test_a_broker_of_the_user_s_own_means_that_none_is_started(perdure: Home) -> None:
    perdure.processes["broker"] = "sleep 602"
    ran = perdure.run("up", "--detach", PERDURE_REDIS_URL="redis://127.0.0.1:1/0")
    assert ran.returncode == 0, ran.stderr
    assert set(perdure.state()["processes"]) == {"sleeper", "gateway"}


@pytest.mark.requirement("CLI-07")
def test_nothing_running_is_said_with_the_way_to_start(perdure: Home) -> None:
    status = perdure.run("status")
    assert status.returncode == 5
    assert "perdure up --detach" in status.stdout
    assert perdure.run("logs").returncode == 3
    doctor = perdure.run("doctor")
    assert doctor.returncode == 1
    assert "perdure up --detach" in doctor.stdout


@pytest.mark.requirement("STORE-13")
def test_a_home_that_others_can_use_is_closed_to_them(perdure: Home) -> None:
    perdure.home.mkdir()
    perdure.home.chmod(0o755)
    assert "chmod 700" in perdure.run("doctor").stdout


def test_a_home_that_is_a_file_is_named_as_such(perdure: Home) -> None:
    perdure.home.touch()
    doctor = perdure.run("doctor")
    assert f"{perdure.home} is not a folder" in doctor.stdout


def test_the_lock_goes_with_its_holder(tmp_path: Path) -> None:
    first, second = Lock(tmp_path), Lock(tmp_path)
    assert first.take()
    assert not second.take()
    assert held(tmp_path)
    first.release()
    assert not held(tmp_path)
    assert second.take()
    second.release()
