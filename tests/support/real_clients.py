"""The real coding tools, told to speak to a scripted model on loopback: what each needs for that, and how it is asked.

They come from ``build/node``, where ``make hosts`` puts them. Nothing here knows Perdure but a host's name in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from support.stack import ROOT

MODULES = ROOT / "build" / "node" / "node_modules"
LIMIT_S = 150
"""Only so that a client that hangs does not hang the tests."""

Prepare = Callable[[Path, str], None]
"""Writes what a person of this client has in their home already: the home and the model's address are given."""


@dataclass(frozen=True)
class Client:
    """A coding tool.

    Attributes:
        id: Its name for ``perdure connect``.
        package: Its npm package.
        version: The version that is tested.
        program: Its program.
        words: Its arguments for one prompt without a terminal.
        variables: What it must find in its environment, ``{model}`` for the model's address.
        prepare: Its settings before Perdure comes.
        hooks: It runs hooks; without them a memory comes and goes by the tools alone.
    """

    id: str
    package: str
    version: str
    program: str
    words: tuple[str, ...]
    variables: Mapping[str, str]
    prepare: Prepare
    hooks: bool = True

    @property
    def missing(self) -> str:
        """Why it cannot be run here; empty where it can."""
        if node() is None:
            return "Node 22 is not in build/node; `make hosts` installs it"
        try:
            found = json.loads((MODULES / self.package / "package.json").read_text(encoding="utf-8"))["version"]
        except (OSError, ValueError, KeyError):
            return f"{self.package} is not in build/node; `make hosts` installs it"
        return "" if found == self.version else f"{self.package} is {found} in build/node, not {self.version}"


def node() -> Path | None:
    """The folder of a Node of version 22 for this machine; None where there is none."""
    system = {"linux": "linux", "darwin": "darwin"}.get(sys.platform, "")
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(os.uname().machine, "")
    folder = MODULES / f"node-{system}-{machine}" / "bin"
    return folder if (folder / "node").is_file() else None


def _claude(home: Path, _model: str) -> None:
    _write(
        home / ".claude" / "settings.json",
        # no comment: Claude Code ignores the whole of a settings file that has one
        """{
    "permissions":   {"allow": ["mcp__perdure__memory_search", "mcp__perdure__memory_save"], "deny": ["Read(./.env)"]},
    "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo seen >> ~/theirs"}]}]}
}
""",
    )


def _codex(home: Path, model: str) -> None:
    _write(
        home / ".codex" / "config.toml",
        f"""# kept by hand
model = "fake"
model_provider = "loopback"

[model_providers.loopback]
name = "loopback"
base_url = "{model}/v1"
wire_api = "responses"
""",
    )


def _gemini(home: Path, _model: str) -> None:
    _write(
        home / ".gemini" / "settings.json",
        """{
  // kept by hand
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
""",
    )


def _opencode(home: Path, model: str) -> None:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "loopback",
        "options": {"baseURL": f"{model}/v1", "apiKey": "x"},
        "models": {"fake": {"name": "fake"}},
    }
    settings = {
        "model": "loopback/fake",
        "small_model": "loopback/fake",
        "autoupdate": False,
        "provider": {"loopback": provider},
        "permission": {"*": "allow"},
    }
    _write(home / ".config" / "opencode" / "opencode.json", "// kept by hand\n" + json.dumps(settings, indent=2) + "\n")


def _copilot(_home: Path, _model: str) -> None:
    pass


CLIENTS = (
    Client(
        id="claude-code",
        package="@anthropic-ai/claude-code",
        version="2.1.332",
        program="claude",
        words=("-p", "{prompt}", "--output-format", "json"),
        variables={
            "ANTHROPIC_BASE_URL": "{model}",
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        prepare=_claude,
    ),
    Client(
        id="codex",
        package="@openai/codex",
        version="0.171.0",
        program="codex",
        # a person is asked once whether a hook is to be trusted; nobody is here to answer
        words=("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--json", "{prompt}"),
        variables={},
        prepare=_codex,
    ),
    Client(
        id="gemini",
        package="@google/gemini-cli",
        version="0.61.0",
        program="gemini",
        # a named model, or a router asks another one first
        words=("-m", "gemini-2.5-flash", "-p", "{prompt}", "--approval-mode", "yolo", "--output-format", "json"),
        variables={
            "GEMINI_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": "{model}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        },
        prepare=_gemini,
    ),
    Client(
        id="copilot",
        package="@github/copilot",
        version="1.0.102",
        program="copilot",
        words=("-p", "{prompt}", "--allow-all-tools"),
        variables={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "{model}/v1",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "fake",
        },
        prepare=_copilot,
    ),
    Client(
        id="opencode",
        package="opencode-ai",
        version="1.18.33",
        program="opencode",
        words=("run", "{prompt}"),
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        prepare=_opencode,
        hooks=False,
    ),
)
BY_ID = {client.id: client for client in CLIENTS}


def ask(
    client: Client, prompt: str, *, model: str, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """One session of a client in ``folder``: a prompt, answered by the model at ``model``, and the end."""
    variables = {name: value.replace("{model}", model) for name, value in client.variables.items()}
    return subprocess.run(
        [str(MODULES / ".bin" / client.program), *(word.replace("{prompt}", prompt) for word in client.words)],
        env={**environment, **variables},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
