"""Where moving in happens: a person's home, the folder they stand in, their environment, and how much to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SESSION_CAP = 5
"""Memories of one session; what the hooks keep of one too."""
TRANSCRIPTS_LIMIT = 200
"""Memories of all transcripts together, newest sessions first: years of talk must not bury what was saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """One person's place on one machine, and the limits of one import.

    Attributes:
        home: Home directory.
        folder: Current directory.
        environment: The process's variables.
        cap: Memories of one session of transcripts.
        limit: Memories of all transcripts.
    """

    home: Path
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    cap: int = SESSION_CAP
    limit: int = TRANSCRIPTS_LIMIT

    def directory(self, variable: str, default: str) -> Path:
        """The path in a variable, else ``default`` below the home."""
        value = self.environment.get(variable, "").strip()
        return Path(value).expanduser() if value else self.home / default
