"""Pages that are written by the code itself: settings, command line, MCP tools, the tables of REST.

``.venv/bin/python tests/support/reference_pages.py`` writes them; a test compares them with what it would write.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from perdure.cli.failure import Exit
from perdure.cli.main import GROUPS, root
from perdure.gateway.app import make_app
from perdure.gateway.catalogue import nobody
from perdure.gateway.policy import Policy
from perdure.gateway.tools.catalogue import TOOLSETS
from perdure.settings import Settings

ROOT = Path(__file__).resolve().parents[2]

SETTINGS_HEAD = """\
# Settings

Every process reads its settings from the environment, then from `$PERDURE_HOME/config.env` (lines `NAME=value`);
the environment wins. Names are `PERDURE_` and the field of `services/perdure/settings.py` in capitals. A malformed
value stops the process with a sentence that names the variable. This page is written by
`tests/support/reference_pages.py`.
"""
SETTINGS_FOOT = """\
## Read by one program only

| name | read by | meaning |
|---|---|---|
| `PERDURE_AUTOSTART` | bridge | `0`: never start the local services |
| `PERDURE_HOOKS` | hooks | `off`, `recall` or `capture`: [what hooks may do](../explanation/capture.md); default both |
| `PERDURE_NUDGE` | hooks | off; `1`: [ask the model](../explanation/capture.md#asking-the-model) at a turn's end |
| `PERDURE_READONLY` | bridge, hooks | `1`: [only what reads](../how-to/connect-ai-tools.md#only-to-read); default off |
| `PERDURE_PUBLISH` | docker-compose.yml | where the gateway is published, default `127.0.0.1:3456` |
| `PERDURE_DEBUG` | command line | any value: show the traceback of an unexpected error |

A token may also stand in the file `$PERDURE_HOME/token` (mode 0600); `PERDURE_TOKEN` wins over it. A file that
others can read is not used.
"""
SETTINGS_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Where things are", ("home", "store_url", "port", "bind", "url", "token")),
    ("Between the services", ("*_target", "*_listen", "internal_token", "redis_url", "metrics_port_base")),
    ("Access", ("auth", "allowed_hosts", "allowed_origins", "body_limit_bytes", "toolsets", "rate_per_minute")),
    ("For tests and demonstrations", ("embedding_test_*", "clock_offset_s")),
    ("Embedding", ("embedding_*",)),
    ("Processes", ("log_level", "log_format", "otlp_endpoint", "worker_concurrency", "visibility_timeout_s")),
    ("Memories and the rest", ("*",)),
)

CLI_HEAD = """\
# Command line

`perdure COMMAND --help` says the same as this page, which is written by `tests/support/reference_pages.py`.
`--json` prints the gateway's answer as it is; without it, tables and colours appear on a terminal only and a pipe
gets plain lines. Text that begins with `-` is text; after `--` everything is. `-` reads standard input. A mistyped
command is answered with the nearest one. `perdure --version` shows the version.

## Exit status

| status | means |
|---|---|
"""
STATUS = {
    Exit.OK: "done",
    Exit.ERROR: "error; `doctor` and `db check`: something is wrong",
    Exit.USAGE: "wrong usage or bad input",
    Exit.NOT_FOUND: "not found",
    Exit.REFUSED: "refused: token or scope",
    Exit.AWAY: "a service is away or not ready",
    Exit.NO_MATCH: "a search matched nothing",
    Exit.INTERRUPTED: "interrupted",
    Exit.PIPE_CLOSED: "the reader of the output went away",
}

MCP_HEAD = """\
# MCP tools

Endpoint: `http://127.0.0.1:3456/mcp` (Streamable HTTP, stateless, POST only; protocol 2026-07-28, and 2025-11-25
and earlier), or the stdio program `perdure-bridge`. `tools/list` shows the toolset `core`; `PERDURE_TOOLSETS` or
`/mcp?toolsets=core,curation` (or `all`) shows more. A tool outside the shown toolsets cannot be called.

Answers are text. Stored text stands between two fences that carry a random word, each line after `|`; it is data,
not instructions ([why](../explanation/security.md)). A mistake is an answer with `isError` that says what to send
instead; only a defect of Perdure is a protocol error. An unknown argument is refused by name. `"5"` is taken for
`5`, `null` for leaving out. This page is written by `tests/support/reference_pages.py`.
"""
MCP_FOOT = """\
## Only through the bridge: `memory_start`, `memory_compress`

`memory_start` starts the local services if they do not run and says whether memory is ready. No arguments.

`memory_compress` makes stubs of Claude Code's memory files whose whole text is in memory
([how](../how-to/compress.md)). `dry_run`, true unless given: say only what would be done. Listed where Claude Code
has kept anything.

The bridge answers both itself.

## Resources

`memory://<id>` reads one memory in full, as `memory_get` shows it. There are no prompts.
"""


def settings_page() -> str:
    """Every field of Settings, each in the first group that names it."""
    left = dict(Settings.model_fields)
    lines = [SETTINGS_HEAD]
    taken: dict[str, list[str]] = {}
    for title, patterns in SETTINGS_GROUPS:
        names = [name for name in left if any(Path(name).match(pattern) for pattern in patterns)]
        taken[title] = [_setting(name, left.pop(name)) for name in names]
    for title, entries in taken.items():
        if entries:
            lines.append("\n".join((f"## {title}\n", "| setting | default | meaning |", "|---|---|---|", *entries, "")))
    return "\n".join((*lines, SETTINGS_FOOT))


def _setting(name: str, field: Any) -> str:
    default = field.default
    value = default.get_secret_value() if hasattr(default, "get_secret_value") else default
    if name == "home":
        shown = "`~/.perdure`"
    elif value is None:
        shown = "unset"
    elif value == "":
        shown = "empty"
    else:
        shown = f"`{json.dumps(value).strip(chr(34))}`"
    return f"| `PERDURE_{name.upper()}` | {shown} | {escaped(field.description)} |"


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with its path."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from commands(inner, (*path, name))


def cli_page() -> str:
    """Every command with its arguments and options, by the groups of ``perdure --help``."""
    lines = [CLI_HEAD + "\n".join(f"| {status.value} | {STATUS[status]} |" for status in Exit) + "\n"]
    every = list(commands(root, ()))
    for title, names in GROUPS.items():
        lines.append(f"## {title}\n\n| command | does | options |\n|---|---|---|")
        lines += [_command(path, command) for name in names for path, command in every if path[0] == name]
        lines.append("")
    return "\n".join(lines)


def _command(path: tuple[str, ...], command: click.Command) -> str:
    arguments, options = [], []
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            if not parameter.hidden:
                options.append(_option(parameter))
            continue
        name = (parameter.name or "").rstrip("_").upper() + ("…" if parameter.nargs == -1 else "")
        arguments.append(name if parameter.required else f"[{name}]")
    does = escaped((command.help or "").split("\n\n")[0])
    shown = " ".join((f"`{' '.join(path)}`", *arguments))
    return f"| {shown} | {does} | {'<br>'.join(options)} |"


def _option(option: click.Option) -> str:
    names = " ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.opts == ["--json"]:
        return names
    choices = "/".join(option.type.choices) if isinstance(option.type, click.Choice) else ""
    return " ".join(part for part in (names, choices, escaped(option.help)) if part)


def mcp_page() -> str:
    """Every tool with its arguments, by toolset."""
    lines = [MCP_HEAD]
    for toolset, cards in TOOLSETS.items():
        lines.append(f"## Toolset `{toolset}`\n")
        for card in cards:
            schema = card.listed().input_schema
            required = set(schema.get("required", ()))
            lines.append(f"### `{card.name}`\n\n{card.description} *{_effects(card)}*\n")
            entries = [_argument(name, spec, name in required) for name, spec in schema["properties"].items()]
            lines += [*entries, ""] if entries else []
    return "\n".join((*lines, MCP_FOOT))


def _effects(card: Any) -> str:
    annotations = card.listed().annotations
    kind = "Read only" if annotations.read_only_hint else "Destructive" if annotations.destructive_hint else "Writes"
    return f"{kind}; scope: {card.scope.value if card.scope else 'none'}."


def _argument(name: str, spec: dict[str, Any], required: bool) -> str:
    kinds = {"string": "text", "array": "list of texts"}
    kind = "/".join(spec["enum"]) if "enum" in spec else kinds.get(spec.get("type", ""), spec.get("type", ""))
    low, high = spec.get("minimum", ""), spec.get("maximum", "")
    span = f" {low}–{high}" if low != "" and high != "" else f" from {low}" if low != "" else ""
    more = ", required" if required else f", default `{json.dumps(spec['default'])}`" if "default" in spec else ""
    about = f": {spec['description']}" if spec.get("description") else ""
    return f"- `{name}` {kind}{span}{more}{about}"


def routes_block() -> str:
    """Every REST route with its parameters, by what it is about."""
    paths = _openapi()["paths"]
    titles = {"memories": "Memories", "maintenance": "Maintenance", "": "Operations"}
    sections: dict[str, list[str]] = {title: [] for title in titles.values()}
    for path, operations in paths.items():
        title = titles.get(path.split("/")[1], titles[""])
        sections[title] += [_route(method, path, operation) for method, operation in operations.items()]
    head = "| route | does | parameters |\n|---|---|---|"
    return "\n\n".join("\n".join((f"## {title}\n", head, *entries)) for title, entries in sections.items() if entries)


def _route(method: str, path: str, operation: dict[str, Any]) -> str:
    parameters = ", ".join(
        f"`{item['name']}`" + (" header" if item["in"] == "header" else "")
        for item in operation.get("parameters", ())
        if item["in"] != "path"
    )
    return f"| `{method.upper()} {path}` | {escaped(operation.get('summary'))} | {parameters} |"


def save_block() -> str:
    """Every field of a save."""
    schema = _openapi()["components"]["schemas"]["SaveBody"]
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, spec in schema["properties"].items():
        plain = next((choice for choice in spec.get("anyOf", ()) if choice.get("type") != "null"), spec)
        kinds = {"string": "text", "array": "list of texts", "number": "number 0–1"}
        kind = "/".join(plain["enum"]) if "enum" in plain else kinds.get(plain.get("type", ""), "object")
        kind = "time" if plain.get("format") == "date-time" else kind
        default = spec.get("default")
        shown = "required" if name in schema["required"] else "" if default is None else f"`{default}`"
        lines.append(f"| `{name}` | {kind} | {shown} | {escaped(spec.get('description'))} |")
    return "\n".join(lines)


@functools.cache
def _openapi() -> dict[str, Any]:
    return make_app(nobody(), Policy()).openapi()


def rest_page() -> str:
    """The page as it is, with its written parts written anew."""
    text = (ROOT / "docs" / "reference" / "rest.md").read_text(encoding="utf-8")
    for name, block in {"routes": routes_block(), "save": save_block()}.items():
        begin, end = f"<!-- written: {name} -->\n", f"\n<!-- end: {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{block}{end}{rest.partition(end)[2]}"
    return text


def escaped(text: str | None) -> str:
    """``text`` as one cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


PAGES = {"settings.md": settings_page, "cli.md": cli_page, "mcp-tools.md": mcp_page, "rest.md": rest_page}

if __name__ == "__main__":
    for page_name, make in PAGES.items():
        (ROOT / "docs" / "reference" / page_name).write_text(make(), encoding="utf-8")
