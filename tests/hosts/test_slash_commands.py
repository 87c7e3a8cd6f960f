"""``perdure connect --commands`` in the real tools: what is typed becomes what the command's file says."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.real_clients import BY_ID, MODULES, Client, ask, node
from support.scripted_model import ScriptedModel
from support.stack import free_port

pytestmark = pytest.mark.hosts

TYPED = {"claude-code": "/perdure stats", "codex": "$perdure stats", "gemini": "/perdure stats", "opencode": "stats"}
WORDS = {"opencode": ("run", "--command", "perdure", "{prompt}")}
"""How a command is called without a terminal, where not as the prompt itself."""


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Client:
    found = BY_ID[request.param]
    if found.missing:
        pytest.skip(found.missing)
    return replace(found, words=WORDS.get(found.id, found.words))


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.mark.requirement("I4-PLUGIN-03")
@pytest.mark.parametrize("client", TYPED, indirect=True)
def test_the_model_is_told_what_the_command_says(client: Client, model: ScriptedModel) -> None:
    with tempfile.TemporaryDirectory(prefix="pdh-") as top:
        home, memory, folder = (Path(top) / name for name in ("home", "memory", "work"))
        for made in (home, memory, folder):
            made.mkdir(mode=0o700)
        (memory / "config.env").write_text("PERDURE_AUTOSTART=0\n")
        environment = {
            "HOME": str(home),
            "PATH": f"{node()}:{MODULES / '.bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            "PERDURE_HOME": str(memory),
            "PERDURE_PORT": str(free_port()),
        }
        client.prepare(home, model.url)
        connected = subprocess.run(
            [sys.executable, "-P", "-m", "perdure.cli", "connect", client.id, "--commands", "--no-hooks"],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert connected.returncode == 0, connected.stderr
        model.script("Counted.")
        done = ask(client, TYPED[client.id], model=model.url, folder=folder, environment=environment)
        told = f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert any(asked.says("- `stats`: run `perdure stats`.") for asked in model.asked), told
        # a skill is read by the model beside what was typed; a command takes that in
        given = TYPED[client.id] if client.id == "codex" else 'for: "stats"'
        assert any(asked.says(given) for asked in model.asked), told
