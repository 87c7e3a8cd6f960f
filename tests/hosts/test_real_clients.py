"""The real coding tools in an empty home, after ``perdure setup --yes``: one memory among them, without being asked.

``make hosts`` installs the tools and runs this; it is no part of ``make test``. The model is ours, on loopback.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.real_clients import BY_ID, CLIENTS, MODULES, Client, ask, node
from support.scripted_model import Asked, Call, ScriptedModel
from support.stack import Stack, free_port, wait_until

pytestmark = pytest.mark.hosts

DECISION = "We decided to use Postgres 16 instead of MySQL for the billing service."
CAUSE = "The root cause of the slow login was a missing index on users.email."
QUESTION = "Which database does the billing service use for its invoices?"
DIGEST = "the long-term memory of this machine's tools"
UNSURE = "The build fails because the locale is missing."
UNSURE_ASKED = "did not store what the user said here"
ANSWER = "It listens on the usual port."
WAIT_S = 180


@dataclass
class World:
    """An empty home with the tools on its PATH, a Perdure that ``setup`` has started, and a model."""

    top: Path
    environment: dict[str, str]
    model: ScriptedModel
    said: str = ""

    @property
    def stack(self) -> Stack:
        return Stack(Path(self.environment["PERDURE_HOME"]), int(self.environment["PERDURE_PORT"]))

    def perdure(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "perdure.cli", *words],
            env=self.environment,
            cwd=self.environment["HOME"],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )

    def project(self, name: str) -> Path:
        folder = self.top / "work" / name
        if not folder.exists():
            subprocess.run(["git", "init", "-q", str(folder)], env=self.environment, check=True)
        return folder

    def session(
        self, client: Client, folder: Path, prompt: str, answer: str, *calls: Call, calls_when: str = ""
    ) -> list[Asked]:
        """One session; what its model was asked where tools were offered, in order."""
        self.model.script(answer, *calls, when=calls_when)
        done = ask(client, prompt, model=self.model.url, folder=folder, environment=self.environment)
        told = f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert done.returncode == 0, told
        assert answer in done.stdout, told
        asked = [each for each in self.model.asked if each.tools]
        assert asked, told
        return asked

    def memories(self, project: str) -> list[dict[str, Any]]:
        answer = self.stack.call("GET", f"/memories?project={project}&limit=50").json
        return list(answer["memories"])

    def contents(self, project: str) -> list[str]:
        return sorted(memory["content"] for memory in self.memories(project))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    here = [client for client in CLIENTS if not client.missing]
    folder = node()
    if folder is None or not here:
        pytest.skip("; ".join(sorted({client.missing for client in CLIENTS})))
    # a client that finds its home below the system's folder for scratch files refuses some of its own parts
    with tempfile.TemporaryDirectory(prefix="pdh-") as name, ScriptedModel() as model:
        top = Path(name)
        home = top / "home"
        home.mkdir()
        environment = {
            "HOME": str(home),
            "PATH": f"{folder}:{MODULES / '.bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            # whatever a client would like to fetch from elsewhere is not there
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            "PERDURE_HOME": str(top / "memory"),
            "PERDURE_PORT": str(free_port()),
            "PERDURE_EMBEDDING_PROVIDER": "test",
        }
        if "PYTHONPATH" in os.environ:
            environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        for client in here:
            client.prepare(home, model.url)
        built = World(top, environment, model)
        try:
            done = built.perdure("setup", "--yes")
            assert done.returncode == 0, done.stdout + done.stderr
            built.said = done.stdout
            yield built
        finally:
            built.perdure("down")


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Client:
    return present(request.param)


def present(name: str) -> Client:
    found = BY_ID[name]
    if found.missing:
        pytest.skip(found.missing)
    return found


def hang_up(server: socket.socket) -> None:
    """Accept and close until the server is shut down."""
    with contextlib.suppress(OSError):
        while True:
            server.accept()[0].close()


@contextlib.contextmanager
def away(world: World) -> Iterator[None]:
    """No server, and none can be started: its port is somebody else's, who hangs up at once."""
    assert world.perdure("down").returncode == 0
    with socket.create_server(("127.0.0.1", int(world.environment["PERDURE_PORT"]))) as taken:
        thread = threading.Thread(target=hang_up, args=(taken,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            taken.shutdown(socket.SHUT_RDWR)
            thread.join(WAIT_S)
    started = world.perdure("up", "--detach")
    assert started.returncode == 0, started.stdout + started.stderr


def told_by(world: World, client: Client, project: str) -> None:
    """A decision said in a client; where it has no hooks, its model saves what it was told to."""
    calls = [] if client.hooks else [Call("memory_save", {"content": DECISION, "type": "decision", "project": project})]
    world.session(client, world.project(project), DECISION, ANSWER, *calls)


@pytest.mark.requirement("I4-REAL-01")
@pytest.mark.parametrize("client", BY_ID, indirect=True)
def test_setup_finds_the_client_and_the_client_finds_the_tools(world: World, client: Client) -> None:
    assert world.perdure("connect", client.id).stdout.count("unchanged") == 1 + client.hooks
    asked = world.session(client, world.project(f"new-{client.id}"), "Hello, who are you?", ANSWER)
    assert any(tool.endswith("memory_search") for tool in offered(world, client, asked))


def offered(world: World, client: Client, asked: list[Asked]) -> list[str]:
    """The tools that the model may call; Claude Code names those that it has not loaded in a text."""
    names = [tool for each in asked for tool in each.tools]
    if client.id == "claude-code":
        names += [word for each in asked for text in each.texts for word in text.split()]
    return names


PAIRS = [(one, list(BY_ID)[(at + 1) % len(BY_ID)]) for at, one in enumerate(BY_ID)]
PAIRS += [("copilot", "claude-code"), ("gemini", "codex")]


@pytest.mark.requirement("I4-REAL-02", "I4-REAL-03")
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_decision_told_in_one_client_is_before_the_model_of_another(world: World, one: str, other: str) -> None:
    teller, asker = present(one), present(other)
    project = f"{one}-{other}"
    told_by(world, teller, project)
    wait_until(lambda: world.contents(project), what=f"what {one} was told")
    assert world.contents(project) == [DECISION]
    memory = world.memories(project)[0]
    assert memory["type"] == "decision"
    if teller.hooks:
        assert memory["tags"] == ["captured"]

    calls = [] if asker.hooks else [Call("memory_search", {"query": "billing database", "project": project})]
    asked = world.session(asker, world.project(project), QUESTION, ANSWER, *calls)
    assert asked[-1].says(DECISION)
    if asker.hooks:
        assert asked[0].says(DIGEST)
    # what was shown is not captured again, neither from the prompt nor from the transcript
    assert world.contents(project) == [DECISION]


@pytest.mark.requirement("I4-REAL-03")
@pytest.mark.parametrize("client", [c.id for c in CLIENTS if c.hooks], indirect=True)
def test_what_both_sides_of_a_conversation_settled_is_captured_once(world: World, client: Client) -> None:
    project = f"both-{client.id}"
    world.session(client, world.project(project), f"{DECISION} Why is the login slow?", CAUSE)
    wait_until(lambda: len(world.contents(project)) == 2, what="both sentences")
    world.session(client, world.project(project), f"{DECISION} Is that still so?", CAUSE)
    assert world.contents(project) == sorted([DECISION, CAUSE])
    said_by = {memory["content"]: memory["origin"]["agent"] for memory in world.memories(project)}
    assert said_by == {DECISION: "user", CAUSE: "assistant"}


@pytest.mark.requirement("I4-REAL-04")
def test_with_the_server_away_sessions_go_on_and_what_was_said_comes_in_later(world: World) -> None:
    here = [client for client in CLIENTS if not client.missing]
    with away(world):
        for client in here:
            asked = world.session(client, world.project(f"away-{client.id}"), DECISION, ANSWER)
            assert not any(each.says(DIGEST) for each in asked), client.id
    for client in here:
        if client.hooks:
            # the next session of any client brings it in
            asked = world.session(client, world.project(f"away-{client.id}"), "Hello, who are you?", ANSWER)
            project = f"away-{client.id}"
            wait_until(lambda project=project: world.contents(project), what=f"what {client.id} was told")  # type: ignore[misc]
            assert world.contents(project) == [DECISION]
    assert list((Path(world.environment["PERDURE_HOME"]) / "spool").glob("*.json")) == []
    assert list((Path(world.environment["PERDURE_HOME"]) / "spool").glob("*.rejected")) == []


@pytest.mark.requirement("I4-REAL-04")
@pytest.mark.parametrize("client", [c.id for c in CLIENTS if c.hooks], indirect=True)
def test_a_server_that_hangs_holds_no_session_up_and_what_was_said_comes_in_once(world: World, client: Client) -> None:
    project = f"hung-{client.id}"
    gateway = world.stack.pids()["gateway"]
    os.kill(gateway, signal.SIGSTOP)
    try:
        asked = world.session(client, world.project(project), DECISION, ANSWER)
    finally:
        os.kill(gateway, signal.SIGCONT)
    assert not any(each.says(DIGEST) for each in asked)
    world.session(client, world.project(project), "Hello, who are you?", ANSWER)
    wait_until(lambda: world.contents(project), what="what was said")
    assert world.contents(project) == [DECISION]


@pytest.mark.requirement("I4-NUDGE-02")
@pytest.mark.parametrize("client", ["claude-code", "codex", "copilot"], indirect=True)
def test_asked_at_the_end_of_a_turn_the_model_saves_what_a_hook_could_not_judge(world: World, client: Client) -> None:
    project = f"nudge-{client.id}"
    folder = world.project(project)
    call = Call("memory_save", {"content": UNSURE, "project": project})
    config = Path(world.environment["PERDURE_HOME"]) / "config.env"
    config.write_text("PERDURE_NUDGE=1\n", encoding="utf-8")
    try:
        asked = world.session(client, folder, f"{UNSURE} Look around.", ANSWER, call, calls_when=UNSURE_ASKED)
    finally:
        config.unlink()
    assert [each.says(UNSURE_ASKED) for each in asked] == [False, True, True]
    assert world.contents(project) == [UNSURE]


@pytest.mark.requirement("I4-REAL-05")
def test_their_own_hooks_run_beside_ours_and_disconnect_leaves_theirs(world: World) -> None:
    home = Path(world.environment["HOME"])
    claude = present("claude-code")
    world.session(claude, world.project("theirs"), "Hello, who are you?", ANSWER)
    assert "seen" in (home / "theirs").read_text(encoding="utf-8")
    try:
        done = world.perdure("disconnect")
        assert done.returncode == 0, done.stdout + done.stderr
        settings = (home / ".claude" / "settings.json").read_text(encoding="utf-8")
        assert '"permissions":   {' in settings
        assert "echo seen" in settings
        assert "hooks/__main__.py" not in settings
        asked = world.session(claude, world.project("theirs"), "Hello, who are you?", ANSWER)
        assert not any(each.says(DIGEST) for each in asked)
        for path in (".claude.json", ".codex/config.toml", ".gemini/settings.json", ".config/opencode/opencode.json"):
            if (home / path).exists():
                assert "perdure-bridge" not in (home / path).read_text(encoding="utf-8"), path
        assert "mcpServers" not in json.loads((home / ".claude.json").read_text(encoding="utf-8"))
    finally:
        world.perdure("connect")
