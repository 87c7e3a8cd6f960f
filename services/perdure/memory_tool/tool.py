"""The memory tool as the ``anthropic`` SDK wants it, for its synchronous and its asynchronous client.

Knows the SDK's classes; what a command does is ``commands``, where the documents are is ``gateway_documents``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from perdure.memory_tool.commands import Commands
from perdure.memory_tool.documents import Documents, Refused
from perdure.memory_tool.gateway_documents import PROJECT, GatewayDocuments

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is not installed; run: pip install 'perdure[memory-tool]'", name=error.name
    ) from None

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )


class PerdureMemoryTool(BetaAbstractMemoryTool):
    """The files under ``/memories``, kept by Perdure. May be used from several threads.

    Args:
        url: The gateway; left out: PERDURE_URL, or the local one.
        token: The token, which decides the namespace; left out: PERDURE_TOKEN, or the file in the home.
        project: The project whose keyed memories are the files; one that nothing else is saved to.
        purge: Erase what is deleted, with its history, instead of archiving it.
        documents: Where the files are kept instead of a gateway.
        cache_control: As the SDK has it.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        project: str = PROJECT,
        purge: bool = False,
        documents: Documents | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = Commands(documents or GatewayDocuments(url=url, token=token, project=project, purge=purge))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """The lines of a file or the names in a directory."""
        return _told(lambda: self._commands.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """A new file."""
        return _told(lambda: self._commands.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """One text of a file in the place of another."""
        return _told(lambda: self._commands.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """A text between two lines of a file."""
        return _told(lambda: self._commands.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """A file or directory taken away."""
        return _told(lambda: self._commands.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """A file or directory under another path."""
        return _told(lambda: self._commands.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Everything taken away."""
        return _told(self._commands.clear)


class AsyncPerdureMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the asynchronous client; a command waits in a thread of its own.

    Args:
        url: As ``PerdureMemoryTool``.
        token: As ``PerdureMemoryTool``.
        project: As ``PerdureMemoryTool``.
        purge: As ``PerdureMemoryTool``.
        documents: As ``PerdureMemoryTool``.
        cache_control: As the SDK has it.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        project: str = PROJECT,
        purge: bool = False,
        documents: Documents | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = Commands(documents or GatewayDocuments(url=url, token=token, project=project, purge=purge))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """The lines of a file or the names in a directory."""
        return await asyncio.to_thread(_told, lambda: self._commands.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """A new file."""
        return await asyncio.to_thread(_told, lambda: self._commands.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """One text of a file in the place of another."""
        return await asyncio.to_thread(
            _told, lambda: self._commands.str_replace(command.path, command.old_str, command.new_str)
        )

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """A text between two lines of a file."""
        return await asyncio.to_thread(
            _told, lambda: self._commands.insert(command.path, command.insert_line, command.insert_text)
        )

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """A file or directory taken away."""
        return await asyncio.to_thread(_told, lambda: self._commands.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """A file or directory under another path."""
        return await asyncio.to_thread(_told, lambda: self._commands.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        """Everything taken away."""
        return await asyncio.to_thread(_told, self._commands.clear)


def _told(command: Callable[[], str]) -> str:
    """The answer of a command; a refusal as the SDK passes it to the model."""
    try:
        return command()
    except Refused as refusal:
        raise ToolError(str(refusal)) from None
