"""What the tools of experience, keyed and cost do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRunId, StepOutcome
from perdure.domain.experience.skill import SkillId
from perdure.domain.memory import Filter, Memory, MemoryType, Origin, Provenance, Statement
from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Question
from perdure.domain.recall.budget import estimate_tokens
from perdure.domain.saving import Draft
from perdure.domain.text import cut
from perdure.gateway import present
from perdure.gateway import present_experience as shown
from perdure.gateway.backends import Backends
from perdure.gateway.fencing import NOTICE, attribute
from perdure.gateway.metering import Meter
from perdure.gateway.shielding import Shield
from perdure.gateway.tools import arguments_experience as e
from perdure.gateway.tools import texts
from perdure.gateway.tools.arguments import BadArguments, NoArguments
from perdure.gateway.tools.doing import Doing

TRAIN_WAIT_S = 25.0
SHOWN_CHARS_MAX = 500
"""Builderforce Memory's cap on what a recall shows of one memory."""

TOKENS_MAX = 20_000
"""Longest answer: a demonstration can be long, and a model's context is not."""


class ExperienceCalls:
    """The tools' doings over the gateway's backends."""

    def __init__(self, backends: Backends, shield: Shield, word: Callable[[], str], meter: Meter) -> None:
        self._experience = backends.experience
        self._memories = backends.memories
        self._shield = shield
        self._word = word
        self._meter = meter

    def doings(self) -> Mapping[str, Doing]:
        """What each tool does, by name."""
        return {
            "experience_info": self._info,
            "experience_overview": self._overview,
            "experience_forget_all": self._forget_all,
            "episode_save": self._episode_save,
            "episode_list": self._episode_list,
            "episode_get": self._episode_get,
            "episode_forget": self._episode_forget,
            "skill_preview": self._skill_preview,
            "skill_compile": self._skill_compile,
            "skill_list": self._skill_list,
            "skill_get": self._skill_get,
            "skill_forget": self._skill_forget,
            "skill_schedule": self._skill_schedule,
            "skills_due": self._skills_due,
            "run_start": self._run_start,
            "run_step": self._run_step,
            "run_finish": self._run_finish,
            "run_list": self._run_list,
            "run_get": self._run_get,
            "experience_train": self._train,
            "memory_recall": self._recall,
            "memory_recall_by_tag": self._recall_by_tag,
            "memory_remember": self._remember,
            "memory_forget": self._forget,
            "token_usage": self._usage,
            "model_efficiency": self._efficiency,
        }

    # ------------------------------------------------------------ experience

    async def _info(self, caller: Caller, _given: NoArguments, _: Origin) -> str:
        found = await self._experience.overview(caller, days=1)
        return _json(
            {
                "model": found.model_version,
                "episodes": found.episodes,
                "skills": found.skills,
                "runs": sum(found.runs.values()),
                "learned": found.learned,
                "pending": found.pending,
            }
        )

    async def _overview(self, caller: Caller, given: e.OverviewArguments, _: Origin) -> str:
        return _json(shown.overview(await self._experience.overview(caller, days=given.days)))

    async def _forget_all(self, caller: Caller, given: e.ConfirmArguments, _: Origin) -> str:
        await self._shield(self._experience.forget_all(caller, confirm=given.confirm))
        return _json({"forgotten": True})

    async def _episode_save(self, caller: Caller, given: e.EpisodeArguments, _: Origin) -> str:
        stored = await self._shield(self._experience.save_episode(caller, given.episode))
        return _json({"id": stored.id, "redacted": list(stored.redacted)})

    async def _episode_list(self, caller: Caller, given: e.PageArguments, _: Origin) -> str:
        page = await self._experience.episodes(caller, limit=given.limit, cursor=given.cursor)
        return _json({"episodes": [shown.episode_line(one) for one in page.episodes], "next_cursor": page.next})

    async def _episode_get(self, caller: Caller, given: e.IdArguments, _: Origin) -> str:
        return _json(shown.episode(await self._experience.episode(caller, EpisodeId(given.id))))

    async def _episode_forget(self, caller: Caller, given: e.IdArguments, _: Origin) -> str:
        return _json({"forgotten": await self._shield(self._experience.forget_episode(caller, EpisodeId(given.id)))})

    async def _skill_preview(self, caller: Caller, given: e.CompileArguments, _: Origin) -> str:
        return _json(shown.skill(await self._experience.preview_skill(caller, EpisodeId(given.episode), given.edits)))

    async def _skill_compile(self, caller: Caller, given: e.CompileArguments, _: Origin) -> str:
        compiled = self._experience.compile_skill(caller, EpisodeId(given.episode), given.edits)
        return _json(shown.skill(await self._shield(compiled)))

    async def _skill_list(self, caller: Caller, given: e.PageArguments, _: Origin) -> str:
        page = await self._experience.skills(caller, limit=given.limit, cursor=given.cursor)
        return _json({"skills": [shown.skill_line(one) for one in page.skills], "next_cursor": page.next})

    async def _skill_get(self, caller: Caller, given: e.SkillArguments, _: Origin) -> str:
        skill = await self._experience.skill(caller, SkillId(given.id), given.version)
        records = await self._experience.skill_records(caller, skill.id)
        taught = [shown.record(one) for one in records if one.version == skill.version]
        return _json({**shown.skill(skill), **({"record": taught[0]} if taught else {})})

    async def _skill_forget(self, caller: Caller, given: e.IdArguments, _: Origin) -> str:
        return _json({"forgotten": await self._shield(self._experience.forget_skill(caller, SkillId(given.id)))})

    async def _skill_schedule(self, caller: Caller, given: e.ScheduleArguments, _: Origin) -> str:
        scheduled = self._experience.schedule_skill(caller, SkillId(given.id), given.routine)
        return _json(shown.skill(await self._shield(scheduled)))

    async def _skills_due(self, caller: Caller, given: e.DueArguments, origin: Origin) -> str:
        due = self._experience.due_skills(
            caller,
            holder=given.holder or _holder(caller, origin),
            offset_minutes=given.offset_minutes,
            claim=given.claim,
        )
        return _json({"skills": [shown.skill(one) for one in await self._shield(due)]})

    async def _run_start(self, caller: Caller, given: e.StartArguments, origin: Origin) -> str:
        begun = self._experience.start_run(
            caller,
            SkillId(given.skill),
            RunTrigger(given.trigger),
            holder=given.holder or _holder(caller, origin),
            model=given.model,
        )
        return _json(shown.run(await self._shield(begun)))

    async def _run_step(self, caller: Caller, given: e.StepArguments, _: Origin) -> str:
        logged = self._experience.log_step(
            caller, SkillRunId(given.run), given.idx, given.step, StepOutcome(given.outcome), detail=given.detail
        )
        run = await self._shield(logged)
        return _json({"logged": True, "status": run.status.value})

    async def _run_finish(self, caller: Caller, given: e.FinishArguments, _: Origin) -> str:
        ended = self._experience.finish_run(
            caller,
            SkillRunId(given.run),
            RunStatus(given.status),
            error=given.error,
            tokens=given.tokens,
            cost=given.cost,
            model=given.model,
        )
        return _json(shown.run(await self._shield(ended)))

    async def _run_list(self, caller: Caller, given: e.RunsArguments, _: Origin) -> str:
        page = await self._experience.runs(caller, limit=given.limit, cursor=given.cursor)
        return _json({"runs": [shown.run_line(one) for one in page.runs], "next_cursor": page.next})

    async def _run_get(self, caller: Caller, given: e.IdArguments, _: Origin) -> str:
        return _json(shown.run(await self._experience.run(caller, SkillRunId(given.id))))

    async def _train(self, caller: Caller, given: e.TrainArguments, _: Origin) -> str:
        training = self._experience.train(caller, dry_run=given.dry_run, curate=given.curate, wait_s=TRAIN_WAIT_S)
        return _json(shown.training(await self._shield(training)))

    # ------------------------------------------------------------ keyed

    async def _recall(self, caller: Caller, given: e.RecallArguments, _: Origin) -> str:
        answer = await self._memories.search(caller, Question(query=given.query, limit=given.top))
        hits = answer.recall[: given.top]
        arms = [name for name, ran in (("meaning", answer.dense_ran), ("words", answer.lexical_ran)) if ran]
        ranked = f"Ranked by: {' and '.join(arms) or 'nothing'}."
        notes = [f"Note: {warning}" for warning in present.warnings(answer)]
        if not hits:
            return "\n".join(["No matching memories.", ranked, *notes])
        blocks = [self._block(hit.memory, score=f"{hit.score:.3f}") for hit in hits]
        return "\n".join([NOTICE, "", "\n\n".join(blocks), "", ranked, *notes])

    async def _recall_by_tag(self, caller: Caller, given: e.TagArguments, _: Origin) -> str:
        # the filter knows no upper and lower case, the predecessor's tags do
        page, _cursor = await self._memories.list(caller, Filter(tags=(given.tag,)), limit=50, cursor="")
        found = [one for one in page if given.tag in one.statement.tags][: given.limit]
        if not found:
            return "No matching memories."
        return "\n".join([NOTICE, "", "\n\n".join(self._block(one) for one in found)])

    def _block(self, memory: Memory, **facts: object) -> str:
        return texts.block(self._word(), memory, facts=facts, chars=SHOWN_CHARS_MAX)

    async def _remember(self, caller: Caller, given: e.RememberArguments, origin: Origin) -> str:
        ends = datetime.now(UTC) + timedelta(milliseconds=given.ttl_ms) if given.ttl_ms else None
        draft = Draft(
            statement=Statement(
                content=given.content,
                type=MemoryType.FACT,
                project=given.project,
                key=given.key,
                tags=tuple(given.tags or ()),
            ),
            provenance=Provenance.SAVE,
            importance=given.importance,
            expires_at=ends,
            origin=origin,
        )
        return texts.saved(await self._shield(self._memories.save(caller, draft)), what="Memory")

    async def _forget(self, caller: Caller, given: e.KeyArguments, _: Origin) -> str:
        filter_ = Filter(keys=(given.key,), projects=(given.project,) if given.project else ())
        page, _cursor = await self._memories.list(caller, filter_, limit=2, cursor="")
        if not page:
            return "There is no memory of this key; nothing was forgotten."
        if len(page) > 1:
            raise BadArguments("memory_forget: this key stands in more than one project; name the project.")
        memory = await self._shield(self._memories.archive(caller, page[0].id))
        return f"Forgotten: {memory.id}. It can be restored; memory_purge erases for ever."

    # ------------------------------------------------------------ cost

    async def _usage(self, caller: Caller, given: e.UsageArguments, _: Origin) -> str:
        await self._meter.flush()  # the last few seconds count too
        found = shown.usage(await self._experience.usage(caller, days=given.days))
        lines = [
            f"Token usage (last {given.days} days)",
            f"- Tokens served: {found['tokens_served']:,}",
            f"- Tokens saved against putting the whole store into each prompt: {found['tokens_saved']:,}",
            f"- Answers: {found['calls']:,}",
        ]
        by_client: dict[str, list[int]] = {}
        for line in found["by_client_and_day"]:
            sums = by_client.setdefault(line["client"], [0, 0, 0])
            for at, name in enumerate(("tokens_served", "tokens_saved", "calls")):
                sums[at] += line[name]
        for client, (served, saved, calls) in sorted(by_client.items(), key=lambda item: -item[1][0]):
            lines.append(f"- {attribute(client)}: {served:,} served, {saved:,} saved, {calls:,} answers")
        return "\n".join(lines)

    async def _efficiency(self, caller: Caller, _given: NoArguments, _: Origin) -> str:
        records = await self._experience.skill_records(caller)
        if not records:
            return "No efficiency data yet: no run of a skill has ended."
        lines = ["By skill and version, the most often run first:"]
        for one in sorted(records, key=lambda record: -record.runs):
            cost = "cost unknown" if one.cost_per_success is None else f"${one.cost_per_success:.4f} per success"
            lines.append(
                f'- "{attribute(one.name)}" v{one.version}: {one.rate:.0%} succeed '
                f"({one.low:.0%} to {one.high:.0%}), {cost}, n={one.runs}"
            )
        return "\n".join(lines)


def _holder(caller: Caller, origin: Origin) -> str:
    """Who is handed a routine where the client gives itself no name."""
    return f"{caller.actor} {origin.host}".strip()[:200]


def _json(value: Any) -> str:
    """``value`` as JSON; one too long for a model is cut, says so, and how to read the rest."""
    text = orjson.dumps(value).decode()
    if estimate_tokens(text) <= TOKENS_MAX:
        return text
    return cut(text, TOKENS_MAX * 2) + "\nCut: too long for one answer. Ask for fewer, or read it by REST or the CLI."
