"""Where settings files are kept on this machine: home, system, environment, project.

A value, so that a test can be on any system. Refuses to read or write a file beyond asking whether it exists.
"""

from __future__ import annotations

import enum
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perdure.installer.refusal import Refused
from perdure.project import project_of


class System(enum.Enum):
    """The operating systems whose files differ."""

    LINUX = "linux"
    MAC = "mac"
    WINDOWS = "windows"


class Scope(enum.Enum):
    """Whom an entry is for: the person everywhere, or everybody in one project."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One person's place on one machine.

    Attributes:
        home: Home directory, absolute.
        system: Operating system.
        project: Top of the project that the command is run in.
        environment: The process's variables.
    """

    home: Path
    system: System
    project: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def directory(self, variable: str, default: Path) -> Path:
        """The absolute path in a variable, else ``default``.

        An empty or relative value counts as unset, as the XDG specification has it: a settings file must not land in
        whatever directory the command was called from.
        """
        value = self.environment.get(variable, "").strip()
        return Path(value) if value and Path(value).is_absolute() else default

    @property
    def xdg_config(self) -> Path:
        """``$XDG_CONFIG_HOME`` or ``~/.config``."""
        return self.directory("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def roaming(self) -> Path:
        """``%APPDATA%``."""
        return self.directory("APPDATA", self.home / "AppData" / "Roaming")

    @property
    def local_app_data(self) -> Path:
        """``%LOCALAPPDATA%``."""
        return self.directory("LOCALAPPDATA", self.home / "AppData" / "Local")

    @property
    def app_support(self) -> Path:
        """Where desktop programs keep their settings on this system."""
        match self.system:
            case System.MAC:
                return self.home / "Library" / "Application Support"
            case System.WINDOWS:
                return self.roaming
            case System.LINUX:
                return self.xdg_config

    def on_path(self, program: str) -> bool:
        """Whether a program of this name is on ``PATH``."""
        return shutil.which(program, path=self.environment.get("PATH", "")) is not None


def this_machine() -> Machine:
    """The machine that this process runs on.

    Raises:
        Refused: it has no home directory.
    """
    systems = {"darwin": System.MAC, "win32": System.WINDOWS}
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise Refused("There is no home directory; set HOME.")
    return Machine(
        home=home,
        system=systems.get(sys.platform, System.LINUX),
        project=Path(project_of(str(Path.cwd())).root),
        environment=dict(os.environ),
    )
