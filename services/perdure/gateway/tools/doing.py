"""The form of what a tool does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from perdure.domain.memory import Origin
from perdure.domain.namespace import Caller

Doing = Callable[[Caller, Any, Origin], Awaitable[str]]
"""Caller, checked arguments, who the client says it is; the answer's text."""
