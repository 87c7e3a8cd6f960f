"""A tool without its doing: name, when to call it, arguments, what it does to the world."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.types import Tool, ToolAnnotations

from perdure.domain.namespace import TokenScope
from perdure.gateway.tools import arguments as a

ALWAYS_LOAD = {"anthropic/alwaysLoad": True}
"""Claude Code puts such a tool into the prompt; it finds the others by searching."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCard:
    """A tool without its doing."""

    name: str
    title: str
    description: str
    arguments: type[a.Arguments]
    scope: TokenScope | None = TokenScope.READ
    destructive: bool = False
    idempotent: bool = True
    always: bool = False
    reads: bool = False

    @property
    def read_only(self) -> bool:
        """Whether it leaves everything as it is; ``reads`` says so where the scope does not."""
        return self.reads or self.scope in (None, TokenScope.READ)

    def listed(self) -> Tool:
        """As ``tools/list`` shows it."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=a.schema(self.arguments),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
            _meta=ALWAYS_LOAD if self.always else None,
        )
