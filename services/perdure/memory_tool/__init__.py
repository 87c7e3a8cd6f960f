"""A backend of Anthropic's memory tool (``memory_20250818``) that keeps its files in Perdure.

``PerdureMemoryTool`` and ``AsyncPerdureMemoryTool`` are tools of the ``anthropic`` SDK (``pip install
'perdure[memory-tool]'``); ``commands`` is what they do, over any ``documents.Documents``. The SDK is imported when one
of the two classes is first named, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.memory_tool.tool import AsyncPerdureMemoryTool, PerdureMemoryTool

__all__ = ["AsyncPerdureMemoryTool", "PerdureMemoryTool"]


def __getattr__(name: str) -> object:
    """The two classes, imported at their first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from perdure.memory_tool import tool

    return getattr(tool, name)
