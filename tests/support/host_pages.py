"""Pages of docs/how-to/hosts, one for each row of the installer's table, so that they show what is really written.

``.venv/bin/python tests/support/host_pages.py`` writes them; a test compares them with what it would write.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from perdure.hooks.specs import SPECS
from perdure.installer.connection import pasted
from perdure.installer.entry import Launch, Remote
from perdure.installer.hooking import Runner, hooks_file, plan_hooks
from perdure.installer.hosts import HOSTS, Form, Host
from perdure.installer.machine import Machine, Scope, System
from perdure.installer.refusal import Refused

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "hosts"
BRIDGE = Launch("/path/to/perdure-bridge")
REMOTE = Remote("https://memory.example.org/mcp", "PERDURE_TOKEN")
_HOME = Path("/~")
_SYSTEMS = {System.LINUX: "Linux", System.MAC: "macOS", System.WINDOWS: "Windows"}
_WORDS = {
    "claude-desktop": "On Windows, an installation from the Store (MSIX) reads a private copy of that folder, "
    "`%LOCALAPPDATA%\\Packages\\Claude_…\\LocalCache\\Roaming\\Claude`; where it is there, it is edited.",
    "claude-code": "`CLAUDE_CONFIG_DIR` moves the file. An entry in a project's `.mcp.json` waits for your approval.",
    "codex": "`CODEX_HOME` moves the file.",
    "opencode": "Where there is an `opencode.jsonc`, that one is edited.",
    "cline": "An older Cline in VS Code keeps the file in the extension's own storage; where only that is there, it is "
    "edited. `CLINE_MCP_SETTINGS_PATH` moves it.",
    "windsurf": "Windsurf is called Devin Desktop since 2026 and reads the same file.",
    "junie": "JetBrains AI Assistant has no such file: paste the entry in its settings.",
}


_HOOK_WORDS = {
    "claude-code": "Claude Code ignores the whole of a `settings.json` that has a comment or a trailing comma; "
    "`perdure connect` tells you when yours has one.",
    "vscode": "This is Copilot CLI's file: VS Code runs your hooks of Copilot CLI, and those of Claude Code where "
    "there are any. A session is told once all the same. They stay while VS Code or Copilot CLI is connected.",
    "copilot": "VS Code runs these as well. They stay while Copilot CLI or VS Code is connected.",
}
RUNNER = Runner(("/path/to/perdure-hook",), System.LINUX)


def page(host: Host) -> str:
    """The page of one host."""
    fence = {Form.JSON: "json", Form.TOML: "toml", Form.YAML: "yaml"}[host.form]
    lines = [
        f"# Connect {host.title}",
        "",
        "```",
        f"perdure connect {host.id}",
        "```",
        "",
        f"{host.after} To take it out again: `perdure disconnect {host.id}`.",
        "`--readonly` gives it only [what reads](../connect-ai-tools.md#only-to-read).",
        "",
        "## The file",
        "",
        *_files(host),
        "",
        *([_WORDS[host.id], ""] if host.id in _WORDS else []),
        "## The entry",
        "",
        "The rest of the file stays as it is. The path is that of your installation.",
        "",
        f"```{fence}",
        pasted(host, host.entry(BRIDGE, BRIDGE)).rstrip("\n"),
        "```",
        "",
        "The bridge starts the services when they are first needed.",
        "",
        *_hooks(host),
        "## A Perdure elsewhere",
        "",
        "```",
        f"perdure connect {host.id} --http {REMOTE.url} --token-env PERDURE_TOKEN",
        "```",
        "",
        f"```{fence}",
        pasted(host, host.entry(REMOTE, BRIDGE)).rstrip("\n"),
        "```",
        "",
        _token(host),
        "",
        "How files are edited, kept and given back: [connect AI tools](../connect-ai-tools.md).",
        "",
    ]
    return "\n".join(lines)


def _files(host: Host) -> list[str]:
    rows = ["| whose | file |", "|---|---|"]
    found: dict[str, list[str]] = {}
    for system, name in _SYSTEMS.items():
        machine = Machine(home=_HOME, system=system, project=Path("/project"))
        found.setdefault(str(host.file(machine, Scope.USER)).removeprefix("/"), []).append(name)
    for path, names in found.items():
        whose = "yours" if len(found) == 1 else f"yours, {' and '.join(names)}"
        rows.append(f"| {whose} | `{path}` |")
    try:
        host.file(Machine(home=_HOME, system=System.LINUX, project=Path("/project")), Scope.PROJECT)
        rows.append(f"| the project's (`--project`) | `{host.project_file}` |")
    except Refused:
        pass
    return rows


def _hooks(host: Host) -> list[str]:
    path = hooks_file(host, Machine(home=_HOME, system=System.LINUX, project=Path("/project")))
    if host.hooks is None or path is None:
        return _tried(host)
    spec = SPECS[host.hooks]
    plan = plan_hooks(host, Machine(home=_HOME, system=System.LINUX, project=Path("/project")), RUNNER)
    assert plan is not None
    assert plan.entry is not None
    first = spec["events"][1]["event"]
    elements = plan.entry[spec.get("list", first)][:1] if "list" not in spec else plan.entry[spec["list"]][1:2]
    shown = json.dumps({"hooks": elements if "list" in spec else {first: elements}}, indent=2)
    words = _HOOK_WORDS.get(host.id)
    events = ", ".join(f"`{row['event']}`" for row in spec["events"])
    return [
        "## The hooks",
        "",
        f"`{str(path).removeprefix('/')}` gets `perdure-hook --host {host.hooks}` beside your own hooks, at {events}. "
        "`--no-hooks` leaves them out." + (f" {spec['note']}" if spec.get("note") else ""),
        "",
        "```json",
        shown,
        "```",
        "",
        "and the same at the others. What they do: [what is captured](../../explanation/capture.md).",
        "",
        *([words, ""] if words else []),
        *_tried(host),
    ]


def _tried(host: Host) -> list[str]:
    from support.real_clients import BY_ID

    client = BY_ID.get(host.id)
    if client is None:
        return []
    return [f"Tried with {host.title} {client.version}, from setup to recall in another tool: `make hosts`.", ""]


def _token(host: Host) -> str:
    if host.reference is not None:
        return f"The token stays in the variable, which {host.title} reads from its own environment."
    return (
        "This file cannot name a variable, so the bridge makes the connection; it reads the token from `PERDURE_TOKEN` "
        "in its own environment or from the file `token` in `PERDURE_HOME`."
    )


def pages() -> dict[str, str]:
    """Every page by file name."""
    return {f"{host.id}.md": page(host) for host in HOSTS}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
