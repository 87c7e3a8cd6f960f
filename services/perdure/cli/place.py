"""Where the gateway is and what to show it, without the cost of the full settings.

Reads PERDURE_URL, PERDURE_PORT, PERDURE_TOKEN and PERDURE_HOME from the environment, then from
``$PERDURE_HOME/config.env``; the token also from ``$PERDURE_HOME/token``. The names and defaults are those of
``perdure.settings``, which takes 0.2 s to import; a test compares the two. Refuses to open a connection.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from perdure.cli.failure import Exit, Failure

DEFAULT_PORT = 3456
_QUOTES = ("'", '"')


class Place:
    """One home and one gateway.

    Attributes:
        home: ``$PERDURE_HOME`` or ``~/.perdure``; need not exist.
        url: The gateway's URL without a slash at the end.
        chosen: The user named the URL; False where it is the local default.
        token: What to send, or an empty string.
        token_from: Where the token was found, for ``perdure doctor``.
    """

    __slots__ = ("chosen", "home", "token", "token_from", "url", "warnings")

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Read the environment and the two small files.

        Raises:
            Failure: the URL or the port cannot be used.
        """
        given = os.environ if environment is None else environment
        self.home = Path(given.get("PERDURE_HOME") or "~/.perdure").expanduser().absolute()
        values = {**read_env_file(self.home / "config.env"), **given}
        self.warnings: list[str] = []
        chosen = values.get("PERDURE_URL", "").strip()
        self.chosen = bool(chosen)
        self.url = _checked_url(chosen) if chosen else f"http://127.0.0.1:{_port(values)}"
        self.token, self.token_from = values.get("PERDURE_TOKEN", "").strip(), "PERDURE_TOKEN"
        if not self.token:
            self.token, self.token_from = self._token_file(), str(self.home / "token")
        if self.token and not (self.token.isascii() and self.token.isprintable() and " " not in self.token):
            raise Failure(f"The token in {self.token_from} contains characters that no token has.", Exit.USAGE)

    def _token_file(self) -> str:
        path = self.home / "token"
        try:
            with path.open(encoding="ascii", errors="replace") as file:
                status = os.fstat(file.fileno())
                if sys.platform != "win32" and stat.S_IMODE(status.st_mode) & 0o077:
                    self.warnings.append(f"{path} can be read by others, so it is not used; run: chmod 600 {path}")
                    return ""
                return file.read(4096).strip()
        except FileNotFoundError:
            return ""
        except OSError as error:
            self.warnings.append(f"{path} cannot be read ({error.strerror}), so no token is sent.")
            return ""


def read_env_file(path: Path) -> dict[str, str]:
    """``NAME=value`` lines of a file; comments, ``export`` and quotes as shells and dotenv files have them."""
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
        if value[:1] in _QUOTES and value[0] in value[1:]:
            value = value[1:].partition(value[0])[0]
        else:
            value = value.partition(" #")[0].rstrip()
        values[name.strip()] = value
    return values


def _port(values: Mapping[str, str]) -> int:
    text = values.get("PERDURE_PORT", "").strip() or str(DEFAULT_PORT)
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535):
        raise Failure(f"PERDURE_PORT must be a number from 1 to 65535, not {text!r}.", Exit.USAGE)
    return int(text)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character <= " " or character > "~" for character in url):
        raise Failure("PERDURE_URL must look like http://127.0.0.1:3456 or https://memory.example.org.", Exit.USAGE)
    return url.split("?")[0].split("#")[0].rstrip("/").removesuffix("/mcp")
