"""Which project a folder belongs to: one answer for every hook, command, bridge and installer.

In this order: a ``.perdure.toml``, the nearest from the folder up to the repository's top; the repository's remote; the
folder of the repository's common git directory, so that worktrees and sub-folders agree and a submodule is itself; the
nearest folder that looks like a project's top; the folder's own name. Git's files are read; git is never run.

Standard library alone, and nothing that is slow to import: hooks and the bridge use it (docs/adr/0016).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GLOBAL = "_global"
FILE = ".perdure.toml"
PROJECT_CHARS_MAX = 200
_LEVELS_MAX = 64
_FILE_BYTES_MAX = 1 << 20
_SETTINGS_BYTES_MAX = 64 * 1024
_TOPS = (
    "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "Gemfile", "composer.json",
    "AGENTS.md", "CLAUDE.md", "GEMINI.md", ".hg", ".jj",
)  # fmt: skip


class Project:
    """A folder's project.

    Attributes:
        name: Its name in the memory; ``_global`` for a folder that is nobody's project (a home, a root).
        root: Its top folder.
        source: What decided: ``file``, ``remote``, ``git``, ``marker``, ``folder`` or ``none``.
        recalls: The project's ``.perdure.toml`` lets hooks add context.
        captures: The project's ``.perdure.toml`` lets hooks store what was said.
        fault: What is wrong with that file, for a person; empty where nothing is. The name is then what it would be
            without the file.
    """

    __slots__ = ("captures", "fault", "name", "recalls", "root", "source")

    def __init__(
        self, name: str, root: str, source: str, *, recalls: bool = True, captures: bool = True, fault: str = ""
    ) -> None:
        """Hold the values."""
        self.name = name
        self.root = root
        self.source = source
        self.recalls = recalls
        self.captures = captures
        self.fault = fault


def project_of(folder: str) -> Project:
    """The project of ``folder``, which need not exist.

    Returns:
        Always an answer; files that cannot be read count as absent.
    """
    start = os.path.realpath(folder or os.curdir)
    settings, settings_root, fault = _settings(start)
    recalls, captures = _allows(settings, "recall"), _allows(settings, "capture")
    named = settings.get("project")
    if named is not None:
        why = _why_no_name(named)
        if not why:
            return Project(_clean(named), settings_root, "file", recalls=recalls, captures=captures)
        fault = f"The project in {os.path.join(settings_root, FILE)} is not used: {why}."
    name, root, source = _by_git(start) or _by_folder(start)
    return Project(name, root, source, recalls=recalls, captures=captures, fault=fault)


def name_of_remote(url: str) -> str:
    """The repository's name in a remote's address: its last part without ``.git``; empty for none."""
    path = url.strip().replace("\\", "/").partition("?")[0].partition("#")[0].rstrip("/")
    return _clean(path.replace(":", "/").rpartition("/")[2].removesuffix(".git"))


def _allows(settings: dict[str, Any], what: str) -> bool:
    """Whether nothing forbids it: ``capture = false``, at the file's top or in its table ``hooks``."""
    hooks = settings.get("hooks")
    return settings.get(what) is not False and (not isinstance(hooks, dict) or hooks.get(what) is not False)


def _why_no_name(named: object) -> str:
    """Why ``named`` is no project's name; empty where it is one."""
    if not isinstance(named, str):
        return "it is no text"
    if not _clean(named):
        return "it is empty"
    # a name may have a slash in it (acme/shop); a path means a place, and not what is there
    if any(part in ("", ".", "..", "~") for part in _clean(named).replace("\\", "/").split("/")):
        return "it is a path and no name"
    return ""


def _settings(start: str) -> tuple[dict[str, Any], str, str]:
    """What the nearest settings file says, its folder, and what is wrong with it."""
    home = os.path.realpath(os.path.expanduser("~"))
    for folder in _upwards(start):
        path = os.path.join(folder, FILE)
        if os.path.lexists(path):
            values, why = _read_settings(path)
            return values, folder, f"{path} is not used: {why}." if why else ""
        # what lies above a repository is not its own, and may be another person's
        if folder == home or os.path.exists(os.path.join(folder, ".git")):
            break
    return {}, start, ""


def _read_settings(path: str) -> tuple[dict[str, Any], str]:
    """The values of a settings file, or none and why it has none."""
    import tomllib  # 10 ms that only such a file costs

    from perdure.regular_file import NotRegular, opened

    try:
        with opened(path) as file:
            raw = file.read(_SETTINGS_BYTES_MAX + 1)
        if len(raw) > _SETTINGS_BYTES_MAX:
            return {}, f"it is larger than {_SETTINGS_BYTES_MAX // 1024} KiB"
        return tomllib.loads(raw.decode("utf-8-sig")), ""
    except NotRegular:
        return {}, "it is no regular file"
    except OSError as error:
        return {}, f"it cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        return {}, "it is not UTF-8"
    except (ValueError, RecursionError) as error:
        return {}, f"it is not valid TOML ({error})"


def _by_git(start: str) -> tuple[str, str, str] | None:
    home = os.path.realpath(os.path.expanduser("~"))
    for folder in _upwards(start):
        if folder == home and start != home:
            return None  # a home under version control does not make one project of everything below it
        dot_git = os.path.join(folder, ".git")
        directory = _git_directory(dot_git, folder)
        if directory is None:
            continue
        common = _common(directory)
        name = _remote(common)
        if name:
            return name, folder, "remote"
        return _name_of_common(common, folder), folder, "git"
    return None


def _git_directory(dot_git: str, folder: str) -> str | None:
    """The git directory that ``.git`` is or points to."""
    if os.path.isfile(os.path.join(dot_git, "HEAD")):
        return dot_git
    text = _read(dot_git)
    if text.startswith("gitdir:"):
        return os.path.normpath(os.path.join(folder, text[len("gitdir:") :].strip()))
    return None


def _common(directory: str) -> str:
    """The directory that all worktrees of a repository share."""
    text = _read(os.path.join(directory, "commondir")).strip()
    return os.path.normpath(os.path.join(directory, text)) if text else directory


def _remote(common: str) -> str:
    """The repository's name by its remote: ``origin``, else ``upstream``, else the first one; empty for none."""
    found: dict[str, str] = {}
    section = ""
    for raw in _read(os.path.join(common, "config")).splitlines():
        line = raw.strip()
        if line.startswith("["):
            section = _remote_of(line)
            continue
        name, separator, value = line.partition("=")
        if section and separator and name.strip().lower() == "url":
            found.setdefault(section, value.strip().strip('"'))
    for remote in ("origin", "upstream", *found):
        if found.get(remote) and (name := name_of_remote(found[remote])):
            return name
    return ""


def _remote_of(line: str) -> str:
    """The remote that a section's head opens, ``[remote "name"]``; empty for every other section.

    By hand, because importing ``re`` takes longer than everything else that a prompt needs.
    """
    inside = line[1:].strip()
    if inside[:6].lower() != "remote":
        return ""
    before, quote, rest = inside[6:].partition('"')
    name, end, after = rest.rpartition('"')
    while end and not after.strip().startswith("]"):  # a quote in a comment behind the head
        name, end, after = name.rpartition('"')
    return name if quote and end and not before.strip() else ""


def _name_of_common(common: str, folder: str) -> str:
    base = os.path.basename(common)
    if base == ".git":
        return _clean(os.path.basename(os.path.dirname(common))) or GLOBAL
    # a bare repository with worktrees, or a submodule's directory below .git/modules
    return _clean(base.removesuffix(".git").lstrip(".")) or _clean(os.path.basename(folder)) or GLOBAL


def _by_folder(start: str) -> tuple[str, str, str]:
    home = os.path.realpath(os.path.expanduser("~"))
    nobodys = {home, os.path.dirname(home), os.path.realpath(os.sep)}
    if start in nobodys or os.path.dirname(start) == start:
        return GLOBAL, start, "none"
    for folder in _upwards(start):
        if folder in nobodys:
            break
        if any(os.path.exists(os.path.join(folder, top)) for top in _TOPS) and _clean(os.path.basename(folder)):
            return _clean(os.path.basename(folder)), folder, "marker"
    return _clean(os.path.basename(start)) or GLOBAL, start, "folder"


def _upwards(start: str) -> list[str]:
    folders = [start]
    while len(folders) < _LEVELS_MAX and (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders


def _read(path: str) -> str:
    if not os.path.isfile(path):  # opening a FIFO would wait for a writer
        return ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_FILE_BYTES_MAX)
    except OSError:
        return ""


def _clean(name: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:PROJECT_CHARS_MAX]
