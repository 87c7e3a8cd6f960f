"""Where the gateway is and what to show it: the environment, read once, and the token, read when it is needed.

Knows PERDURE_URL, PERDURE_PORT, PERDURE_TOKEN, PERDURE_HOME, PERDURE_AUTOSTART and PERDURE_READONLY, and that
``config.env`` in the home directory may set all but the home, as it does for the services. Refuses to open a
connection.

The classes of this package are written out rather than made by ``dataclasses``: importing that module costs as much
time as the rest of the bridge together (it pulls in ``inspect``).
"""

from __future__ import annotations

import os
import stat
import sys
import urllib.parse
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT_PORT = 3456

_NO = frozenset({"0", "false", "no", "off"})
_LOOPBACK_NAMES = frozenset({"localhost", "::1", "ip6-localhost"})


class BadTarget(ValueError):
    """The environment names no usable gateway; the message is a sentence for the person who set it."""


class Target:
    """One gateway: its address, whether the user chose it, and its token.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Host name or address, without brackets.
        port: TCP port, 1 to 65535.
        path: Path of the MCP endpoint with its query, for example ``/mcp`` or ``/mcp?toolsets=all``.
        prefix: What stands before ``/mcp`` in the path; the gateway's other paths (``/readyz``) hang under it.
        home: Directory of the local services (``PERDURE_HOME``).
        loopback: The address is on this machine.
        autostart: The bridge may start the local services: nothing else is configured and nobody forbade it.
        readonly: The host gets the tools that read and no others.
    """

    __slots__ = (
        "_configured_token",
        "_warn",
        "_warned",
        "autostart",
        "home",
        "host",
        "loopback",
        "path",
        "port",
        "prefix",
        "readonly",
        "scheme",
    )

    def __init__(self, environment: Mapping[str, str], warn: Callable[[str], None]) -> None:
        """Read the environment.

        Args:
            environment: The process's variables.
            warn: Called with a sentence when something is wrong that does not stop the bridge.

        Raises:
            BadTarget: the URL, the port or the home cannot be used.
        """
        try:
            self.home = Path(environment.get("PERDURE_HOME", "").strip() or "~/.perdure").expanduser().absolute()
        except RuntimeError:
            raise BadTarget("There is no home directory; set PERDURE_HOME.") from None
        values = {**_settings_file(self.home / "config.env"), **environment}
        given = values.get("PERDURE_URL", "").strip()
        self._configured_token = values.get("PERDURE_TOKEN", "").strip()
        self._warn = warn
        self._warned: set[str] = set()
        parts = _split(given or f"http://127.0.0.1:{_port(values)}")
        self.scheme = parts.scheme
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.prefix = parts.path.rstrip("/").removesuffix("/mcp")
        self.path = f"{self.prefix}/mcp" + (f"?{parts.query}" if parts.query else "")
        self.loopback = self.host in _LOOPBACK_NAMES or self.host.startswith("127.")
        forbidden = values.get("PERDURE_AUTOSTART", "").strip().lower() in _NO
        # a word that is neither yes nor no is taken for yes: less is allowed then, never more
        self.readonly = values.get("PERDURE_READONLY", "").strip().lower() not in {"", *_NO}
        self.autostart = not given and not self._configured_token and not forbidden

    @property
    def url(self) -> str:
        """The endpoint as a person reads it, without any credentials or query."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"

    def token(self) -> str | None:
        """The token to send, or None.

        The environment wins; otherwise the file ``token`` in the home directory, read anew each time so that one
        written after the bridge's start is used. A file that others can read is refused, once, with a warning.
        """
        token = self._configured_token or self._token_from_file()
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            self._warn_once("The token contains characters that no Perdure token has; it is not sent.")
            return None
        return token or None

    def without_token(self, sentence: str) -> str:
        """``sentence`` fit for a log."""
        return sentence.replace(self._configured_token, "[token]") if self._configured_token else sentence

    def _token_from_file(self) -> str:
        path = self.home / "token"
        try:
            with path.open(encoding="ascii", errors="replace") as file:
                if sys.platform != "win32":
                    status = os.fstat(file.fileno())
                    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
                        self._warn_once(
                            f"{path} can be read by others, so it is not used. Mend it with: chmod 600 {path}"
                        )
                        return ""
                return file.read(4096).strip()
        except FileNotFoundError:
            return ""
        except OSError as error:
            self._warn_once(f"{path} cannot be read ({error.strerror}), so no token is sent.")
            return ""

    def _warn_once(self, sentence: str) -> None:
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._warn(sentence)


def _settings_file(path: Path) -> dict[str, str]:
    """The ``NAME=value`` lines of a file, if there is one; comments, ``export`` and quotes as a shell has them."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
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


def _port(values: Mapping[str, str]) -> int:
    text = values.get("PERDURE_PORT", "").strip() or str(DEFAULT_PORT)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= 65535:
        raise BadTarget(f"PERDURE_PORT must be a number from 1 to 65535, not {text!r}.")
    return int(text)


def _split(url: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character <= " " or character > "~" for character in url):
        raise BadTarget("PERDURE_URL must look like http://127.0.0.1:3456 or https://memory.example.org.")
    if parts.username or parts.password:
        raise BadTarget("PERDURE_URL must not carry a user name or password; set PERDURE_TOKEN instead.")
    return parts
