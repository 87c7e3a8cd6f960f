"""What a host is told: a command to start or an address to call; and which entries of a file are ours.

Pure. A token never passes through here: only the name of the variable that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from perdure.installer.refusal import Refused

NAME = "perdure"
BRIDGE = "perdure-bridge"
BRIDGE_MODULE = "perdure.bridge.main"
READONLY = "--readonly"
_NO = frozenset({"0", "false", "no", "off"})
Entry = dict[str, Any]

_ADDRESS_KEYS = ("url", "serverUrl", "httpUrl", "uri")
_VARIABLE_MAPS = ("env", "envs", "environment")
_WAY_KEYS = frozenset(
    {"type", "source", "command", "cmd", "args", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"}
    | {"env_keys", *_ADDRESS_KEYS, *_VARIABLE_MAPS}
)
"""What says how Perdure is reached; all other keys are the person's choices once the entry is there."""
_OUR_VARIABLES = frozenset({"PERDURE_HOME", "PERDURE_PORT", "PERDURE_URL", "PERDURE_TOKEN", "PERDURE_READONLY"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that speaks MCP over its stdin and stdout; ``command`` is an absolute path."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remote:
    """An MCP endpoint over HTTP.

    Attributes:
        url: The endpoint, ending in ``/mcp`` before any query.
        token_env: Name of the variable that holds the token, or None where no token is needed.
    """

    url: str
    token_env: str | None = None

    @classmethod
    def of(cls, url: str, token_env: str | None) -> Remote:
        """Checked and completed.

        Raises:
            Refused: the URL or the variable's name cannot be used.
        """
        try:
            parts = urlsplit(url.strip())
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or any(character <= " " or character > "~" for character in url.strip()):
            raise Refused("The URL must look like https://memory.example.org/mcp.")
        if parts.username or parts.password:
            raise Refused("The URL must not carry a name or password; name a variable with --token-env instead.")
        if re.search(r"(?i)(^|&)[^=&]*(token|key|secret)[^=&]*=", parts.query):
            raise Refused("The URL must not carry a token; name a variable with --token-env instead.")
        if token_env is not None and not _VARIABLE.match(token_env):
            # not repeated: what stands there may be the token itself
            raise Refused("--token-env takes the name of a variable, such as PERDURE_TOKEN, never the token itself.")
        path = parts.path.rstrip("/").removesuffix("/mcp") + "/mcp"
        return cls(urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), token_env)

    def reading_only(self) -> Remote:
        """The same endpoint, asked to let the caller read and nothing else."""
        parts = urlsplit(self.url)
        rest = [part for part in parts.query.split("&") if part and part.partition("=")[0] != "readonly"]
        return replace(self, url=urlunsplit(parts._replace(query="&".join([*rest, "readonly=1"]))))

    @property
    def in_clear(self) -> bool:
        """A token would cross a network unencrypted."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        local = host in {"localhost", "::1"} or host.startswith("127.")
        return self.token_env is not None and parts.scheme == "http" and not local


def is_ours(entry: object) -> bool:
    """Whether an entry named ``perdure`` was written by us or says the same: it runs our bridge, or calls ``…/mcp``.

    Anything else of that name is somebody else's and is not touched.
    """
    if not isinstance(entry, Mapping):
        return False
    words = _words(entry)
    if words:
        name = re.split(r"[\\/]", words[0])[-1]
        return name.lower().removesuffix(".exe") == BRIDGE or BRIDGE_MODULE in words[1:] or BRIDGE in words[1:]
    for key in _ADDRESS_KEYS:
        if isinstance(address := entry.get(key), str):
            return address.partition("?")[0].rstrip("/").endswith("/mcp")
    return False


def only_reads(entry: object) -> bool:
    """Whether an entry of ours asks for the tools that read and no others, by an option, a variable or its address."""
    if not isinstance(entry, Mapping):
        return False
    if READONLY in _words(entry):
        return True
    maps = [entry[key] for key in _VARIABLE_MAPS if isinstance(entry.get(key), Mapping)]
    values = [values["PERDURE_READONLY"] for values in maps if "PERDURE_READONLY" in values]
    for key in _ADDRESS_KEYS:
        if isinstance(address := entry.get(key), str):
            query = parse_qs(address.partition("?")[2], keep_blank_values=True)
            values += query.get("readonly", [])
    return any(str(value).strip().lower() not in _NO for value in values)


def updated(old: Mapping[str, Any], new: Entry) -> Entry:
    """``new`` with what the person chose in ``old``: switches, approvals, time limits, further variables."""
    merged = dict(new)
    for key, value in old.items():
        if key not in _WAY_KEYS:
            merged[key] = value
        elif key in _VARIABLE_MAPS and isinstance(value, Mapping) and _words(new):
            kept = {name: text for name, text in value.items() if name not in _OUR_VARIABLES}
            if kept or key in new:
                merged[key] = {**new.get(key, {}), **kept}
    return merged


def _words(entry: Mapping[str, Any]) -> list[str]:
    """The command line of an entry, or an empty list."""
    command = entry.get("command", entry.get("cmd"))
    args = entry.get("args", [])
    words = command if isinstance(command, list) else [command, *args] if isinstance(args, list) else [command]
    return [word for word in words if isinstance(word, str)]
