"""What the tools do: check the scope and the arguments, call the services, answer in text.

Every expected failure is an answer the model can act on; only a defect of ours becomes a protocol error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolResult, TextContent

from perdure.domain.memory import MemoryId, Origin
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.runs import Task
from perdure.errors import Code, PerdureError, Reason
from perdure.gateway.access import need
from perdure.gateway.backends import Backends
from perdure.gateway.errors import retry_after_s, sentence_of
from perdure.gateway.fencing import new_word
from perdure.gateway.metering import Meter
from perdure.gateway.metrics import GatewayMetrics
from perdure.gateway.routes.request import memory_id
from perdure.gateway.shielding import Shield
from perdure.gateway.tools import arguments as a
from perdure.gateway.tools import texts
from perdure.gateway.tools.calls_experience import ExperienceCalls
from perdure.gateway.tools.card import ToolCard
from perdure.gateway.tools.doing import Doing

RUN_WAIT_S = 25.0
"""How long a tool waits for a run; hosts give up on a tool after a minute or so."""


class ToolCalls:
    """The tools' doings over the gateway's backends."""

    def __init__(
        self,
        backends: Backends,
        shield: Shield,
        metrics: GatewayMetrics,
        meter: Meter,
        *,
        word: Callable[[], str] = new_word,
    ) -> None:
        self._memories = backends.memories
        self._lifecycle = backends.lifecycle
        self._probes = backends.probes
        self._shield = shield
        self._metrics = metrics
        self._meter = meter
        self._word = word
        self._log = structlog.get_logger("perdure.gateway")
        self._doings: dict[str, Doing] = {
            "memory_sync": self._sync,
            "memory_save": self._save,
            "memory_search": self._search,
            "memory_get": self._get,
            "memory_update": self._update,
            "memory_archive": self._archive,
            "memory_checkpoint": self._checkpoint,
            "memory_stats": self._stats,
            "memory_health": self._health,
            "memory_list": self._list,
            "memory_history": self._history,
            "memory_restore": self._restore,
            "memory_purge": self._purge,
            "memory_consolidate": self._consolidate,
            "memory_clean": self._clean,
            "memory_compact": self._compact,
            **ExperienceCalls(backends, shield, word, meter).doings(),
        }

    async def call(
        self, name: str, given: dict[str, Any], caller: Caller, origin: Origin, cards: Sequence[ToolCard]
    ) -> CallToolResult:
        """The tool's answer; ``is_error`` where the model should do something else.

        Args:
            name: The tool; one that is not among ``cards`` does not exist for this client.
            given: Its arguments as they came.
            caller: Who calls.
            origin: The client's own name.
            cards: The tools of the client's toolsets.

        Raises:
            MCPError: a defect of ours or damaged data; its cause is in the log under the request id.
        """
        card = next((card for card in cards if card.name == name), None)
        if card is None:
            self._metrics.called("unknown", "refused")
            return _result(
                f"There is no tool of this name. Memory tools: {', '.join(card.name for card in cards)}.", failed=True
            )
        try:
            if card.scope is not None:
                need(caller, card.scope)
            asked = a.parsed(name, card.arguments, given)
            if isinstance(asked, a.SearchArguments) and any(card.scope is TokenScope.EXPERIENCE for card in cards):
                asked.beside_procedures()
            text = await self._doings[name](caller, asked, origin)
        except a.BadArguments as refusal:
            self._metrics.called(name, "refused")
            return _result(str(refusal), failed=True)
        except PerdureError as failure:
            self._log.info("tool.refused", tool=name, code=failure.code.value, reason=failure.reason.value)
            if failure.code in (Code.INTERNAL, Code.DATA_CORRUPT):
                self._metrics.called(name, "failed")
                sentence = f"{sentence_of(failure)} Request id: {caller.request_id}"
                raise MCPError(INTERNAL_ERROR, sentence) from failure
            self._metrics.called(name, "refused")
            return _result(_advice(failure), failed=True)
        self._metrics.called(name, "ok")
        self._meter.served(caller, origin.host, text)
        return _result(text)

    def refused(self, name: str, sentence: str) -> CallToolResult:
        """The answer of a tool that is not carried out, counted."""
        self._metrics.called(name, "refused")
        return _result(sentence, failed=True)

    async def _sync(self, caller: Caller, given: a.SyncArguments, _: Origin) -> str:
        project = given.project or None
        briefing = await self._memories.sync(caller, project=project, recent=given.limit)
        return texts.briefing(briefing, self._word(), project=project, max_tokens=given.max_tokens)

    async def _save(self, caller: Caller, given: a.SaveArguments, origin: Origin) -> str:
        return texts.saved(await self._shield(self._memories.save(caller, given.draft(origin))))

    async def _search(self, caller: Caller, given: a.SearchArguments, _: Origin) -> str:
        answer = await self._memories.search(caller, given.question())
        return texts.found(answer, self._word(), max_tokens=given.max_tokens, limit=given.limit)

    async def _get(self, caller: Caller, given: a.GetArguments, _: Origin) -> str:
        memory = await self._memories.get(caller, memory_id(given.id))
        return texts.one(memory, self._word(), max_tokens=given.max_tokens)

    async def _update(self, caller: Caller, given: a.UpdateArguments, _: Origin) -> str:
        edit = given.edit()
        memory, embedded, redacted = await self._shield(self._memories.update(caller, memory_id(given.id), edit))
        lines = [f"Memory updated: {memory.id} (revision {memory.revision})"]
        if redacted:
            lines.append(f"Secrets were blanked before saving: {', '.join(redacted)}.")
        if not embedded:
            lines.append("It is found by words now, and by meaning as soon as its vector is made.")
        return "\n".join(lines)

    async def _archive(self, caller: Caller, given: a.IdArguments, _: Origin) -> str:
        memory = await self._shield(self._memories.archive(caller, memory_id(given.id)))
        return f"Memory archived: {memory.id}. It can be restored."

    async def _checkpoint(self, caller: Caller, given: a.CheckpointArguments, origin: Origin) -> str:
        result = await self._shield(self._memories.checkpoint(caller, given.checkpoint(origin)))
        return texts.saved(result, what="Checkpoint")

    async def _stats(self, caller: Caller, _given: a.NoArguments, _: Origin) -> str:
        counts, _space, _bytes = await self._memories.stats(caller)
        return texts.stats(counts)

    async def _health(self, _caller: Caller, _given: a.NoArguments, _: Origin) -> str:
        answers = await asyncio.gather(*(probe() for probe in self._probes.values()))
        states = dict(zip(self._probes, answers, strict=True))
        bad = {name: state for name, state in states.items() if state != "ready"}
        lines = [f"{name}: {state}" for name, state in states.items()]
        if not bad:
            return "\n".join(["Memory works.", *lines])
        if "retrieval" in bad:
            advice = (
                "Memories cannot be read or saved at present. Tell the user; locally `perdure doctor` names the fix."
            )
        elif "embedding" in bad:
            advice = "Memories are saved, and found by words alone, until the embedding service is back."
        else:
            advice = "Memories are saved and found; work in the background waits."
        return "\n".join([advice, *lines])

    async def _list(self, caller: Caller, given: a.ListArguments, _: Origin) -> str:
        page, cursor = await self._memories.list(caller, given.conditions(), limit=given.limit, cursor=given.cursor)
        return texts.page(page, cursor, self._word(), max_tokens=given.max_tokens)

    async def _history(self, caller: Caller, given: a.IdArguments, _: Origin) -> str:
        memory, revisions = await self._memories.history(caller, memory_id(given.id))
        return texts.past(memory, revisions, self._word())

    async def _restore(self, caller: Caller, given: a.RestoreArguments, _: Origin) -> str:
        if (given.id is None) == (given.json_ is None):
            raise a.BadArguments("memory_restore takes either id or json.")
        if given.id is not None:
            memory = await self._shield(self._memories.restore(caller, memory_id(given.id)))
            return f"Memory restored: {memory.id} (revision {memory.revision})"
        restored, unmatched = await self._shield(self._lifecycle.restore_content(caller, given.texts(), ()))
        return texts.texts_restored(restored, unmatched)

    async def _consolidate(self, caller: Caller, given: a.ConsolidateArguments, _: Origin) -> str:
        run = await self._shield(
            self._lifecycle.start(
                caller, Task.CONSOLIDATE, project=given.project or None, dry_run=given.dry_run, wait_s=RUN_WAIT_S
            )
        )
        return texts.ran(run, self._word())

    async def _clean(self, caller: Caller, given: a.CleanArguments, _: Origin) -> str:
        run = await self._shield(
            self._lifecycle.start(
                caller, Task.CLEAN, project=given.project or None, dry_run=given.dry_run, wait_s=RUN_WAIT_S
            )
        )
        return texts.ran(run, self._word())

    async def _compact(self, caller: Caller, given: a.CompactArguments, _: Origin) -> str:
        done = await self._shield(
            self._lifecycle.compact(caller, given.keys, stub=given.stub or None, dry_run=given.dry_run)
        )
        return texts.compacted(done, self._word(), dry_run=given.dry_run)

    async def _purge(self, caller: Caller, given: a.IdArguments, _: Origin) -> str:
        memory: MemoryId = memory_id(given.id)
        await self._shield(self._memories.purge(caller, memory))
        return f"Memory erased for ever: {memory}"


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)


_NEXT = {
    Reason.MEMORY_NOT_FOUND: "Ids come from memory_search.",
    Reason.REVISION_MOVED: "Read it again with memory_get, then change it.",
    Reason.KEY_TAKEN: "Use another key, or save to this one.",
    Reason.SECRET_REFUSED: "Save it without the secret.",
}


def _advice(failure: PerdureError) -> str:
    parts = [failure.message]
    if failure.code is Code.UNAVAILABLE:
        parts.append("Nothing was lost that was acknowledged; try again shortly. memory_health says what is away.")
    elif failure.code is Code.LIMIT_EXCEEDED:
        parts.append(f"Try again in {retry_after_s(failure):.0f} s.")
    elif failure.reason in _NEXT:
        parts.append(_NEXT[failure.reason])
    return " ".join(parts)
