"""The tools of the toolsets experience, keyed and cost. None of them is shown unless somebody asked for its toolset."""

from __future__ import annotations

from perdure.domain.namespace import TokenScope
from perdure.gateway.tools import arguments as a
from perdure.gateway.tools import arguments_experience as e
from perdure.gateway.tools.card import ToolCard

_DO = TokenScope.EXPERIENCE


def _look(name: str, title: str, description: str, arguments: type[a.Arguments] = a.NoArguments) -> ToolCard:
    return ToolCard(name=name, title=title, description=description, arguments=arguments, scope=_DO, reads=True)


def _act(
    name: str,
    title: str,
    description: str,
    arguments: type[a.Arguments],
    *,
    destructive: bool = False,
    idempotent: bool = True,
) -> ToolCard:
    return ToolCard(
        name=name,
        title=title,
        description=description,
        arguments=arguments,
        scope=_DO,
        destructive=destructive,
        idempotent=idempotent,
    )


EXPERIENCE = (
    _look("experience_info", "Count experience", "How many episodes, skills and runs there are, and what is learned."),
    _look(
        "experience_overview",
        "Experience at a glance",
        "Model, runs by status, approvals, trainings, days and the latest events.",
        e.OverviewArguments,
    ),
    _act(
        "experience_forget_all",
        "Forget all experience",
        "Erase every episode, skill and run. Memories and the model stay. Only when the user asked for it.",
        e.ConfirmArguments,
        destructive=True,
    ),
    _act(
        "episode_save",
        "Save a demonstration",
        "Keep how something was done, step by step, so that it becomes a skill. Secrets are blanked before saving.",
        e.EpisodeArguments,
    ),
    _look("episode_list", "List demonstrations", "Demonstrations, newest first, a page at a time.", e.PageArguments),
    _look("episode_get", "One demonstration", "A demonstration with its steps.", e.IdArguments),
    _act(
        "episode_forget",
        "Erase a demonstration",
        "Erase a demonstration and its pictures; a skill made of it stays.",
        e.IdArguments,
        destructive=True,
    ),
    _look(
        "skill_preview",
        "Preview a skill",
        "What a demonstration would become: parameters, steps, and which steps ask for approval. Saves nothing.",
        e.CompileArguments,
    ),
    _act(
        "skill_compile",
        "Make a skill",
        "Make a skill of a demonstration, or the next version of the skill it was made into.",
        e.CompileArguments,
        idempotent=False,
    ),
    _look("skill_list", "List skills", "Skills, newest first, a page at a time.", e.PageArguments),
    _look(
        "skill_get",
        "One skill",
        "A skill with its steps, and what its runs taught. Call before doing a task that somebody showed before.",
        e.SkillArguments,
    ),
    _act("skill_forget", "Erase a skill", "Erase a skill; its runs stay.", e.IdArguments, destructive=True),
    _act(
        "skill_schedule",
        "Schedule a skill",
        "Say when a skill is to run, and with what values; null ends that. The host runs it, not the server.",
        e.ScheduleArguments,
    ),
    _act(
        "skills_due",
        "Take what is due",
        "Skills whose time has come. Each is handed to one host only; start a run of it within ten minutes.",
        e.DueArguments,
        idempotent=False,
    ),
    _act("run_start", "Begin a run", "Begin a run of a skill and its audit trail.", e.StartArguments, idempotent=False),
    _act(
        "run_step",
        "Log a step",
        "Say what became of one step. A step that requires approval is refused until 'approved' was logged for it.",
        e.StepArguments,
        idempotent=False,
    ),
    _act("run_finish", "End a run", "Say how a run ended.", e.FinishArguments),
    _look("run_list", "List runs", "Runs, newest first.", e.RunsArguments),
    _look("run_get", "One run", "A run with its audit trail.", e.IdArguments),
    _act(
        "experience_train",
        "Learn from experience",
        "Train the namespace's private model on what is new, so that searches find the right procedure. Takes up to a "
        "minute in the background; call again to see how far it is.",
        e.TrainArguments,
    ),
)

KEYED = (
    ToolCard(
        name="memory_recall",
        title="Recall",
        description="Call BEFORE answering whenever earlier context, preferences or decisions may matter.",
        arguments=e.RecallArguments,
    ),
    ToolCard(
        name="memory_recall_by_tag",
        title="Recall by tag",
        description="Memories with exactly this tag, newest first.",
        arguments=e.TagArguments,
    ),
    ToolCard(
        name="memory_remember",
        title="Remember",
        description="Keep a lasting fact under a stable, telling key; the same key replaces it. Never secrets.",
        arguments=e.RememberArguments,
        scope=TokenScope.WRITE,
    ),
    ToolCard(
        name="memory_forget",
        title="Forget",
        description="Take the memory of this key out of every search. It can be restored.",
        arguments=e.KeyArguments,
        scope=TokenScope.WRITE,
        destructive=True,
    ),
)

COST = (
    ToolCard(
        name="token_usage",
        title="Tokens served and saved",
        description="Tokens that memory served, and saved against putting the whole store into each prompt.",
        arguments=e.UsageArguments,
    ),
    ToolCard(
        name="model_efficiency",
        title="What succeeds, and at what cost",
        description="By skill: how often runs succeed, what a success costs, and how many runs that is based on.",
        arguments=a.NoArguments,
    ),
)
