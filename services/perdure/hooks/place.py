"""Where the home and the gateway are, what token to show, and what the user lets the hooks do.

Reads PERDURE_HOME, PERDURE_URL, PERDURE_PORT, PERDURE_TOKEN, PERDURE_HOOKS, PERDURE_NUDGE and PERDURE_READONLY from
the environment, then from ``$PERDURE_HOME/config.env``; the token also from ``$PERDURE_HOME/token``. The rules are
those of ``perdure.settings`` (a test compares them). Refuses to open a connection.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 3456
_NO_NUDGE = frozenset({"", "0", "false", "no", "off", "none"})
_NO = frozenset({"0", "false", "no", "off", "none"})
_NOT_READONLY = frozenset({"", "0", "false", "no", "off"})


class BadPlace(ValueError):
    """The environment names no usable gateway."""


class Place:
    """One home and one gateway.

    Attributes:
        home: ``$PERDURE_HOME`` or ``~/.perdure``, absolute; need not exist.
        secure: The gateway speaks TLS.
        host: Its host name or address, without brackets.
        port: Its TCP port.
        prefix: What stands before ``/memories`` in its paths.
        token: What to send, or an empty string.
        recalls: The user lets the hooks add context.
        captures: The user lets the hooks store what was said.
        nudges: The user lets the hooks ask the model, at a turn's end, about what they cannot decide themselves.
        readonly: This host only reads: nothing is stored, delivered or asked for, whatever ``captures`` would say.
    """

    __slots__ = ("captures", "home", "host", "nudges", "port", "prefix", "readonly", "recalls", "secure", "token")

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Read the environment and the two small files.

        Raises:
            BadPlace: the URL or the port cannot be used.
        """
        home = environment.get("PERDURE_HOME", "").strip() or os.path.join("~", ".perdure")
        self.home = os.path.abspath(os.path.expanduser(home))
        values = {**_settings_file(os.path.join(self.home, "config.env")), **environment}
        allowed = values.get("PERDURE_HOOKS", "").strip().lower()
        self.recalls = allowed not in _NO and allowed != "capture"
        self.readonly = values.get("PERDURE_READONLY", "").strip().lower() not in _NOT_READONLY
        self.captures = allowed not in _NO and allowed != "recall" and not self.readonly
        self.nudges = values.get("PERDURE_NUDGE", "").strip().lower() not in _NO_NUDGE and self.captures
        self.secure, self.host, self.port, self.prefix = False, "127.0.0.1", _port(values), ""
        given = values.get("PERDURE_URL", "").strip()
        if given:
            self.secure, self.host, self.port, self.prefix = _split(given)
        token = values.get("PERDURE_TOKEN", "").strip() or _token_file(os.path.join(self.home, "token"))
        self.token = token if token.isascii() and token.isprintable() and " " not in token else ""


def _settings_file(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 20)
    except OSError:
        return {}
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if not separator or name.startswith("#"):
            continue
        value = value.strip()
        quote = value[:1]
        quoted = quote in {"'", '"'} and quote in value[1:]
        values[name.strip()] = value[1:].partition(quote)[0] if quoted else value.partition(" #")[0].rstrip()
    return values


def _token_file(path: str) -> str:
    """The token in the file; nothing where others can read the file, as the bridge and the command line have it."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            if sys.platform != "win32" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                return ""
            return file.read(4096).strip()
    except OSError:
        return ""


def _port(values: Mapping[str, str]) -> int:
    text = values.get("PERDURE_PORT", "").strip() or str(DEFAULT_PORT)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= 65535:
        raise BadPlace("PERDURE_PORT must be a number from 1 to 65535.")
    return int(text)


def _split(url: str) -> tuple[bool, str, int, str]:
    """Scheme is https, host, port and prefix of ``url``; by hand, because ``urllib.parse`` takes 8 ms to import."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in {"http", "https"} or any(not "!" <= letter <= "~" for letter in url):
        raise BadPlace("PERDURE_URL must look like http://127.0.0.1:3456 or https://memory.example.org.")
    secure = scheme.lower() == "https"
    rest = rest.partition("?")[0].partition("#")[0]
    authority, _, path = rest.partition("/")
    if "@" in authority:
        raise BadPlace("PERDURE_URL must not carry a user name or password; set PERDURE_TOKEN instead.")
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        port = port.removeprefix(":")
    else:
        host, _, port = authority.partition(":")
    if not host or (port and not (port.isdigit() and 1 <= int(port[:6]) <= 65535)):
        raise BadPlace("PERDURE_URL must look like http://127.0.0.1:3456 or https://memory.example.org.")
    prefix = f"/{path}".rstrip("/").removesuffix("/mcp")
    return secure, host, int(port) if port else (443 if secure else 80), prefix
