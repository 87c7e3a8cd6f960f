"""The one table of hosts: whether a host is there, which file it reads, and how an entry looks in it.

Sources: the hosts' own documentation, and their real clients where they run without a desktop. A path here is where
the host reads today; docs/how-to/connect-ai-tools.md leads to a page for each. Refuses to open a file.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from perdure.installer.entry import Entry, Launch, Remote
from perdure.installer.machine import Machine, Scope, System
from perdure.installer.refusal import Refused

Place = Callable[[Machine], Path]


class Form(enum.Enum):
    """The language of a settings file; JSON is read with comments and trailing commas everywhere."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One AI tool.

    Attributes:
        id: What the person types.
        title: What the person reads.
        user_file: The file for the person, by machine.
        project_file: The file for a project, relative to its top; None where the host has none.
        container: Keys from the top of the file to the map of servers.
        launch: The entry that starts a command.
        remote: The entry that calls an address; None where the file cannot say that.
        reference: How the file names a variable, with ``{}`` for its name; None where it cannot, so that a token goes
            by the bridge, which reads it from its own environment.
        signs: Files or folders that only this host makes.
        programs: Names on ``PATH`` that are this host's alone.
        form: The file's language.
        after: What the person does then.
        hooks: Its name in ``perdure.hooks.specs``; None where it has no hooks in a file of the person's.
    """

    id: str
    title: str
    user_file: Place
    launch: Callable[[Launch], Entry]
    signs: tuple[Place, ...]
    container: tuple[str, ...] = ("mcpServers",)
    project_file: str | None = None
    remote: Callable[[Remote, str | None], Entry] | None = None
    reference: str | None = None
    programs: tuple[str, ...] = ()
    form: Form = Form.JSON
    after: str = "Restart it."
    hooks: str | None = None

    def is_here(self, machine: Machine) -> bool:
        """Whether the host was seen on this machine, by its own traces only."""
        return any(sign(machine).exists() for sign in self.signs) or any(map(machine.on_path, self.programs))

    def file(self, machine: Machine, scope: Scope) -> Path:
        """The file to edit.

        Raises:
            Refused: the host has no file of that scope.
        """
        if scope is Scope.USER:
            return self.user_file(machine)
        if self.project_file is None:
            raise Refused(f"{self.title} has no settings file for a project.")
        return machine.project / self.project_file

    def entry(self, target: Launch | Remote, bridge: Launch) -> Entry:
        """The entry for a target.

        A file that has no word for an address, or none for a variable, gets the bridge with the address instead.

        Raises:
            Refused: the token is in a variable that neither the file nor the bridge can be told of.
        """
        if isinstance(target, Launch):
            return self.launch(target)
        bearer = None if target.token_env is None or self.reference is None else self.reference.format(target.token_env)
        if self.remote is not None and (target.token_env is None or bearer is not None):
            return self.remote(target, bearer)
        if target.token_env not in {None, "PERDURE_TOKEN"}:
            raise Refused(
                f"The file of {self.title} cannot name a variable, so the bridge must read the token itself: "
                "use --token-env PERDURE_TOKEN."
            )
        return self.launch(Launch(bridge.command, bridge.args, {**bridge.env, "PERDURE_URL": target.url}))


def _plain(launch: Launch) -> Entry:
    return {"command": launch.command, "args": list(launch.args)} | ({"env": dict(launch.env)} if launch.env else {})


def _typed(kind: str) -> Callable[[Launch], Entry]:
    return lambda launch: {"type": kind, **_plain(launch)}


def _with(**more: object) -> Callable[[Launch], Entry]:
    return lambda launch: {**_plain(launch), **more}


def _address(key: str = "url", **more: object) -> Callable[[Remote, str | None], Entry]:
    def entry(remote: Remote, bearer: str | None) -> Entry:
        headers = {"headers": {"Authorization": f"Bearer {bearer}"}} if bearer else {}
        before = {"type": more["type"]} if "type" in more else {}
        return {**before, key: remote.url, **headers, **{name: value for name, value in more.items() if name != "type"}}

    return entry


def _codex_address(remote: Remote, variable: str | None) -> Entry:
    return {"url": remote.url} | ({"bearer_token_env_var": variable} if variable else {})


def _opencode_launch(launch: Launch) -> Entry:
    environment = {"environment": dict(launch.env)} if launch.env else {}
    return {"type": "local", "command": [launch.command, *launch.args], **environment, "enabled": True}


_GOOSE_TIMEOUT_S = 300
_GOOSE = {"name": "perdure", "description": "Long-term memory", "enabled": True, "timeout": _GOOSE_TIMEOUT_S}


def _goose_launch(launch: Launch) -> Entry:
    return {"type": "stdio", **_GOOSE, "cmd": launch.command, "args": list(launch.args), "envs": dict(launch.env)}


def _goose_address(remote: Remote, bearer: str | None) -> Entry:
    headers = {"headers": {"Authorization": f"Bearer {bearer}"}, "env_keys": [remote.token_env]} if bearer else {}
    return {"type": "streamable_http", **_GOOSE, "uri": remote.url, **headers}


def _claude_code(machine: Machine) -> Path:
    return machine.directory("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def _claude_desktop(machine: Machine) -> Path:
    """The folder of Claude Desktop; a Store (MSIX) installation sees a private copy of the roaming folder."""
    if machine.system is System.WINDOWS:
        packages = machine.local_app_data / "Packages"
        for package in sorted(packages.glob("Claude_*")) if packages.is_dir() else ():
            return package / "LocalCache" / "Roaming" / "Claude"
    return machine.app_support / "Claude"


def _code_user(machine: Machine) -> Path:
    return machine.app_support / "Code" / "User"


def _cline(machine: Machine) -> Path:
    now = machine.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    older = _code_user(machine) / "globalStorage" / "saoudrizwan.claude-dev" / "settings" / "cline_mcp_settings.json"
    named = machine.directory("CLINE_MCP_SETTINGS_PATH", now)
    return older if named == now and not now.exists() and older.parent.parent.is_dir() else named


def _opencode(machine: Machine) -> Path:
    folder = machine.xdg_config / "opencode"
    with_comments = folder / "opencode.jsonc"
    return with_comments if with_comments.exists() else folder / "opencode.json"


def _copilot(machine: Machine) -> Path:
    """Something that Copilot CLI made; its folder alone may hold but the hooks that VS Code shares."""
    folder = machine.home / ".copilot"
    made = (path for path in sorted(folder.iterdir()) if path.name != "hooks") if folder.is_dir() else iter(())
    return next(made, folder / "config.json")


def _zed(machine: Machine) -> Path:
    windows = machine.system is System.WINDOWS
    mac = machine.system is System.MAC
    return machine.roaming / "Zed" if windows else (machine.home / ".config" if mac else machine.xdg_config) / "zed"


def _goose(machine: Machine) -> Path:
    if machine.system is System.WINDOWS:
        return machine.roaming / "Block" / "goose" / "config"
    return machine.xdg_config / "goose"


def _home(*parts: str) -> Place:
    return lambda machine: machine.home.joinpath(*parts)


HOSTS: tuple[Host, ...] = (
    Host(
        id="claude-code",
        title="Claude Code",
        user_file=_claude_code,
        project_file=".mcp.json",
        launch=_typed("stdio"),
        remote=_address(type="http"),
        reference="${{{}}}",
        # never a folder that holds the file: that one is the home directory, and everybody has it
        signs=(_claude_code, _home(".claude")),
        programs=("claude",),
        after="Start a new session; `claude mcp list` shows it.",
        hooks="claude",
    ),
    Host(
        id="claude-desktop",
        title="Claude Desktop",
        user_file=lambda machine: _claude_desktop(machine) / "claude_desktop_config.json",
        launch=_plain,
        signs=(_claude_desktop,),
        after="Quit it wholly and start it again.",
    ),
    Host(
        id="cursor",
        title="Cursor",
        user_file=_home(".cursor", "mcp.json"),
        project_file=".cursor/mcp.json",
        launch=_plain,
        remote=_address(),
        reference="${{env:{}}}",
        signs=(_home(".cursor"),),
        programs=("cursor", "cursor-agent"),
        after="Enable it in Settings, MCP.",
        hooks="cursor",
    ),
    Host(
        id="windsurf",
        title="Windsurf (Devin Desktop)",
        user_file=_home(".codeium", "windsurf", "mcp_config.json"),
        launch=_plain,
        remote=_address("serverUrl"),
        reference="${{env:{}}}",
        signs=(_home(".codeium", "windsurf"),),
        programs=("windsurf",),
        after="Press refresh in the MCP panel.",
        hooks="windsurf",
    ),
    Host(
        id="vscode",
        title="VS Code",
        user_file=lambda machine: _code_user(machine) / "mcp.json",
        project_file=".vscode/mcp.json",
        container=("servers",),
        launch=_typed("stdio"),
        remote=_address(type="http"),
        reference="${{env:{}}}",
        signs=(_code_user,),
        programs=("code",),
        after="Run «MCP: List Servers» and start it.",
        hooks="copilot",  # it reads the person's hooks of Copilot CLI, and turns their names into its own
    ),
    Host(
        id="cline",
        title="Cline",
        user_file=_cline,
        launch=_with(disabled=False, autoApprove=[]),
        # without the type it speaks SSE and fails
        remote=_address(type="streamableHttp", disabled=False, autoApprove=[]),
        signs=(_home(".cline"), lambda machine: _code_user(machine) / "globalStorage" / "saoudrizwan.claude-dev"),
        programs=("cline",),
        after="It is in the MCP Servers panel.",
    ),
    Host(
        id="gemini",
        title="Gemini CLI",
        user_file=_home(".gemini", "settings.json"),
        project_file=".gemini/settings.json",
        launch=_plain,
        remote=_address(type="http"),
        reference="${{{}}}",
        # not the folder: Antigravity has the same one
        signs=(_home(".gemini", "settings.json"),),
        programs=("gemini",),
        after="Start a new session; `/mcp` shows it.",
        hooks="gemini",
    ),
    Host(
        id="codex",
        title="Codex",
        user_file=lambda machine: machine.directory("CODEX_HOME", machine.home / ".codex") / "config.toml",
        project_file=".codex/config.toml",
        container=("mcp_servers",),
        form=Form.TOML,
        launch=_plain,
        remote=_codex_address,
        reference="{}",
        signs=(lambda machine: machine.directory("CODEX_HOME", machine.home / ".codex"),),
        programs=("codex",),
        after="Start a new session; `/mcp` shows it.",
        hooks="codex",
    ),
    Host(
        id="copilot",
        title="Copilot CLI",
        user_file=_home(".copilot", "mcp-config.json"),
        project_file=".github/mcp.json",
        launch=lambda launch: {"type": "local", **_plain(launch), "tools": ["*"]},
        remote=_address(type="http", tools=["*"]),
        reference="${{{}}}",
        signs=(_copilot,),
        programs=("copilot",),
        after="Start a new session; `/mcp show` shows it.",
        hooks="copilot",
    ),
    Host(
        id="opencode",
        title="opencode",
        user_file=_opencode,
        project_file="opencode.json",
        container=("mcp",),
        launch=_opencode_launch,
        remote=_address(type="remote", oauth=False, enabled=True),
        reference="{{env:{}}}",
        signs=(lambda machine: machine.xdg_config / "opencode",),
        programs=("opencode",),
        after="`opencode mcp list` shows it.",
    ),
    Host(
        id="zed",
        title="Zed",
        user_file=lambda machine: _zed(machine) / "settings.json",
        project_file=".zed/settings.json",
        container=("context_servers",),
        launch=lambda launch: {"source": "custom", **_plain(launch)},
        remote=_address(),
        signs=(_zed,),
        programs=("zed", "zeditor"),
        after="It is in the Agent panel's settings.",
    ),
    Host(
        id="junie",
        title="JetBrains Junie",
        user_file=_home(".junie", "mcp", "mcp.json"),
        project_file=".junie/mcp/mcp.json",
        launch=_plain,
        remote=_address(),
        signs=(_home(".junie"),),
        programs=("junie",),
        after="JetBrains AI Assistant has no file: paste the entry in Settings, Tools, AI Assistant, MCP.",
    ),
    Host(
        id="kiro",
        title="Kiro",
        user_file=_home(".kiro", "settings", "mcp.json"),
        project_file=".kiro/settings/mcp.json",
        launch=_with(disabled=False, autoApprove=[]),
        remote=_address(disabled=False),
        reference="${{{}}}",
        signs=(_home(".kiro"),),
        programs=("kiro", "kiro-cli"),
        after="It is in the MCP Servers view.",
        hooks="kiro",
    ),
    Host(
        id="goose",
        title="Goose",
        user_file=lambda machine: _goose(machine) / "config.yaml",
        container=("extensions",),
        form=Form.YAML,
        launch=_goose_launch,
        remote=_goose_address,
        reference="${{{}}}",
        # not the program: a tool for database migrations has the same name
        signs=(_goose,),
        after="Start a new session.",
    ),
    Host(
        id="warp",
        title="Warp",
        user_file=_home(".warp", ".mcp.json"),
        project_file=".warp/.mcp.json",
        launch=_plain,
        remote=_address(),
        signs=(_home(".warp"),),
        programs=("warp-terminal", "warp-cli-agent"),
        after="It is in Settings, AI, MCP Servers.",
    ),
    Host(
        id="amp",
        title="Amp",
        user_file=lambda machine: (
            (machine.home / ".config" if machine.system is not System.LINUX else machine.xdg_config)
            / "amp"
            / "settings.json"
        ),
        container=("amp.mcpServers",),
        launch=_plain,
        remote=_address(),
        signs=(_home(".config", "amp"), lambda machine: machine.xdg_config / "amp"),
        programs=("amp",),
        after="Start a new session.",
    ),
    Host(
        id="antigravity",
        title="Antigravity",
        user_file=_home(".gemini", "config", "mcp_config.json"),
        launch=_plain,
        remote=_address("serverUrl"),
        signs=(_home(".gemini", "config"), _home(".gemini", "antigravity")),
        programs=("antigravity",),
        after="Press refresh in «Manage MCP servers».",
    ),
)
BY_ID = {host.id: host for host in HOSTS}
ALIASES = {"claude": "claude-code", "devin": "windsurf", "copilot-cli": "copilot", "gemini-cli": "gemini",
           "jetbrains": "junie", "vs-code": "vscode", "code": "vscode"}  # fmt: skip
"""Other words people use for a host."""
