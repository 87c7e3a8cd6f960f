"""What the gateway needs from the services behind it.

``perdure.wire.aio`` meets these needs in a running system, an in-memory fake in tests. Every method raises errors of
the taxonomy (``perdure.errors``) and nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from perdure.domain.lifecycle import Compacted, Foreseen
from perdure.domain.memory import Filter, Memory, MemoryId, Revision
from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Answer, Briefing, Question
from perdure.domain.runs import Run, RunItem, Task, UndoReport
from perdure.domain.saving import Checkpoint, Draft, Edit, Failure, ImportReport, SaveResult
from perdure.gateway.backends_experience import Experience
from perdure.ports import Job, JobKind, Stats

Stored = tuple[Memory, tuple[Revision, ...]]
"""A memory and its earlier states, newest first."""


class Memories(Protocol):
    """Memories of the caller's namespace."""

    async def save(self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None) -> SaveResult:
        """Stores one memory, resolved against what is there."""

    async def save_many(
        self, caller: Caller, drafts: Sequence[Draft], *, idempotency_key: str | None = None
    ) -> tuple[SaveResult | Failure, ...]:
        """Stores up to 500; one outcome each, in order."""

    async def checkpoint(
        self, caller: Caller, checkpoint: Checkpoint, *, idempotency_key: str | None = None
    ) -> SaveResult:
        """Stores what a finished task taught."""

    async def get(self, caller: Caller, memory: MemoryId, /, *, peek: bool = False) -> Memory:
        """The memory, whatever its status; ``peek`` does not count as a use."""

    async def update(self, caller: Caller, memory: MemoryId, edit: Edit, /) -> tuple[Memory, bool, tuple[str, ...]]:
        """The memory after the edit, whether it is embedded, and kinds of secrets blanked."""

    async def archive(self, caller: Caller, memory: MemoryId, /, *, expected_revision: int | None = None) -> Memory:
        """Hides the memory."""

    async def restore(self, caller: Caller, memory: MemoryId, /, *, expected_revision: int | None = None) -> Memory:
        """Brings the memory back."""

    async def purge(self, caller: Caller, memory: MemoryId, /, *, expected_revision: int | None = None) -> None:
        """Erases the memory everywhere."""

    async def list(
        self, caller: Caller, filter_: Filter, /, *, limit: int, cursor: str
    ) -> tuple[tuple[Memory, ...], str]:
        """A page, newest first, and the next page's cursor ("" on the last)."""

    async def search(self, caller: Caller, question: Question) -> Answer:
        """Finds memories by meaning and by words."""

    async def sync(self, caller: Caller, *, project: str | None = None, recent: int = 10) -> Briefing:
        """Where the namespace stands."""

    async def stats(self, caller: Caller) -> tuple[Stats, str, int]:
        """Counts, the embedding space in use, bytes of the store."""

    async def history(self, caller: Caller, memory: MemoryId, /) -> Stored:
        """The memory and what it was."""

    def export(
        self, caller: Caller, filter_: Filter, /, *, every_status: bool = False, without_history: bool = False
    ) -> AsyncIterator[Stored]:
        """Every memory that passes, one at a time."""

    async def import_(self, caller: Caller, items: AsyncIterator[Stored], *, dry_run: bool) -> ImportReport:
        """Takes memories in; again is harmless."""


class Access(Protocol):
    """Whose token it is."""

    async def authenticate(self, secret: str) -> Caller:
        """The caller of that token.

        Raises:
            Unauthenticated: unknown, expired or revoked.
        """


class Jobs(Protocol):
    """Work beside the requests."""

    async def start(
        self, caller: Caller, kind: JobKind, parameters: Mapping[str, str] | None = None
    ) -> tuple[Job, bool]:
        """The new job and False, or the unfinished one of its kind and True."""

    async def list(self, caller: Caller, kind: JobKind | None = None, *, limit: int = 50) -> tuple[Job, ...]:
        """Jobs, newest first."""

    async def get(self, caller: Caller, job_id: str, /) -> Job:
        """The job."""

    async def cancel(self, caller: Caller, job_id: str, /) -> Job:
        """The job, asked to stop."""


class Lifecycle(Protocol):
    """What becomes of the memories of the caller's namespace."""

    async def start(
        self, caller: Caller, task: Task, *, project: str | None = None, dry_run: bool = False, wait_s: float = 0.0
    ) -> Run:
        """A run of that task, over or not after ``wait_s`` (25 at most)."""

    async def runs(self, caller: Caller, *, limit: int = 50) -> tuple[Run, ...]:
        """Runs, newest first."""

    async def run(self, caller: Caller, run_id: str, /) -> tuple[Run, tuple[RunItem, ...]]:
        """One run, and the first 500 of what it did."""

    async def undo(self, caller: Caller, run_id: str, /) -> tuple[Run, UndoReport]:
        """The run after its undo, and what was put back."""

    async def foresee(self, caller: Caller, memory: MemoryId, /) -> Foreseen:
        """What happens to a memory if nobody uses it."""

    async def compact(
        self, caller: Caller, names: Sequence[str], /, *, stub: str | None = None, chars: int = 0, dry_run: bool = False
    ) -> Compacted:
        """What was compacted, and why the rest was not."""

    async def restore_content(
        self, caller: Caller, texts: Sequence[tuple[str, str]], unstub: Sequence[str] = (), /
    ) -> tuple[tuple[MemoryId, ...], tuple[str, ...]]:
        """Memories whose text is home, and names that match none."""

    async def memory_md(self, caller: Caller, project: str, /) -> tuple[str, int]:
        """The block of MEMORY.md, and how many memories it names."""

    async def erase(self, caller: Caller, *, project: str | None, confirm: str) -> int:
        """How many memories were erased."""


Probe = Callable[[], Awaitable[str]]
"""Asks a dependency how it is: "ready", or a word for what is wrong with it. Bounded in time; never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backends:
    """The services behind the gateway; ``probes`` by the dependency's name."""

    memories: Memories
    access: Access
    jobs: Jobs
    lifecycle: Lifecycle
    experience: Experience
    probes: Mapping[str, Probe]
    close: Callable[[], Awaitable[None]] | None = None
