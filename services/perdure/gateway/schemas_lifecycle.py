"""Bodies and queries of the lifecycle's routes."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from perdure.domain.memory import GLOBAL_PROJECT
from perdure.gateway.schemas import Body, Query

WAIT_S = 25.0
NAMES_MAX = 200
STUB_CHARS_MAX = 2000
STUB_CHARS_MIN = 20


class RunBody(Body):
    """What a run is to do."""

    project: str | None = Field(None, description="Only this project.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")
    wait: bool = Field(True, description="Wait up to 25 s for the end; false answers 202 at once.")

    def wanted(self) -> dict[str, Any]:
        """As the backend takes it."""
        return {"project": self.project or None, "dry_run": self.dry_run, "wait_s": WAIT_S if self.wait else 0.0}


class CompactBody(Body):
    """Which memories get a stub."""

    memories: list[str] = Field(min_length=1, max_length=NAMES_MAX, description="Keys or ids.")
    stub: str | None = Field(None, max_length=STUB_CHARS_MAX, description="Your own line; for one memory only.")
    max_chars: int | None = Field(None, ge=STUB_CHARS_MIN, le=STUB_CHARS_MAX, description="Of the first line; 140.")
    dry_run: bool = False


class ContentItem(Body):
    """A full text, and whose it is."""

    key: str | None = None
    id: str | None = Field(None, description="A memory's id, also as the predecessor's mem:<key>.")
    content: str | None = Field(None, min_length=1)
    text: str | None = Field(None, min_length=1, description="Another word for content.")

    @model_validator(mode="after")
    def _has_text(self) -> ContentItem:
        if (self.content is None) == (self.text is None):
            raise ValueError("an item has either content or text")
        return self

    def named(self) -> tuple[str, str]:
        """Name and text."""
        return self.key or self.id or "", self.content or self.text or ""


class RestoreContentBody(Body):
    """Texts that come home, and stubs that go."""

    items: list[ContentItem] = Field(default_factory=list, max_length=NAMES_MAX)
    unstub: list[str] = Field(default_factory=list, max_length=NAMES_MAX, description="Keys or ids to be without stub.")

    def named_texts(self) -> list[tuple[str, str]]:
        """Names and texts."""
        return [item.named() for item in self.items]


class EraseBody(Body):
    """What is to be erased for ever."""

    project: str | None = Field(None, description="Left out: the whole namespace (takes the scope admin).")
    confirm: str = Field(description="The project's name, or the namespace's.")


class RunsQuery(Query):
    """How many runs."""

    limit: int = Field(50, ge=1, le=200)


class MemoryMdQuery(Query):
    """Which project."""

    project: str = GLOBAL_PROJECT
