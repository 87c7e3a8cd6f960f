"""Machines for tests of the installer: a home below a scratch folder, on any system, with any hosts."""

from __future__ import annotations

from pathlib import Path

from perdure.installer.entry import Launch
from perdure.installer.machine import Machine, System

BRIDGE = Launch("/opt/perdure/bin/perdure-bridge")


def machine(top: Path, system: System = System.LINUX, **environment: str) -> Machine:
    """A machine with nothing on it, not even a program on its PATH."""
    home = top / "home"
    home.mkdir(exist_ok=True)
    return Machine(home=home, system=system, project=top / "project", environment={"PATH": "", **environment})
