"""Paths of the memory tool: made normal, kept under ``/memories``, and written as a memory's key.

Pure. A key is one line of text in normal form C; a path may hold any character, so what a key cannot hold is written
as ``%XX``, and so is ``%`` itself.
"""

from __future__ import annotations

import posixpath
from urllib.parse import quote, unquote

from perdure.domain.memory import KEY_CHARS_MAX
from perdure.domain.text import one_line
from perdure.memory_tool.documents import Refused

ROOT = "/memories"

_SAFE = "/!\"#$&'()*+,:;<=>?@[]^`{|}"


def normal(path: str) -> str:
    """The path that ``path`` means: ``.``, ``..`` and repeated slashes resolved, no slash at the end.

    As in the SDK's own backend all that matters of the first name is that it begins with ``memories``; what follows
    those letters is below ``/memories``.

    Raises:
        Refused: it does not begin with ``/memories``, leads out of it, or is too long for a key.
    """
    if not path.startswith(ROOT):
        raise Refused(f"Path must start with {ROOT}, got: {path}")
    below = path[len(ROOT) :].lstrip("/")
    resolved = posixpath.normpath(f"{ROOT}/{below}")
    if resolved != ROOT and not resolved.startswith(f"{ROOT}/"):
        raise Refused(f"Path {path} would escape {ROOT} directory")
    if len(key_of(f"{resolved}/")) > KEY_CHARS_MAX:
        raise Refused(f"The path {path} is too long: Perdure keeps paths of up to {KEY_CHARS_MAX - 1} characters.")
    return resolved


def ancestors(path: str) -> list[str]:
    """The directories above ``path`` and below ``/memories``, the topmost first."""
    names = path.removeprefix(ROOT).strip("/").split("/")[:-1]
    return ["/".join((ROOT, *names[: depth + 1])) for depth in range(len(names))]


def parent(path: str) -> str:
    """The directory that holds ``path``."""
    return posixpath.dirname(path)


def key_of(path: str) -> str:
    """The key of a document; ``path_of`` reads it back exactly."""
    plain = path.replace("%", "%25")
    if one_line(plain) == plain:
        return plain
    return quote(path, safe=_SAFE, errors="surrogatepass")


def path_of(key: str) -> str:
    """The path whose key ``key`` is."""
    return unquote(key, errors="surrogatepass")
