"""What runs taught about a skill: how often it succeeds, where it fails, whether it had better be retired.

Pure: counts in, figures out. A denied or stopped run is somebody's decision and says nothing of the procedure, so only
succeeded and failed ones count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from perdure.domain.experience.run import RunStatus
from perdure.domain.experience.skill import SkillId

RETIRE_RUNS_MIN = 5
"""Fewer runs than these say too little to give a skill up."""

RETIRE_BELOW = 0.5
"""A skill is to be retired where even the upper end of its success rate's interval lies below: it mostly fails."""

FAILING_MAX = 5
"""Steps named as those that usually fail."""

_Z = 1.959963984540054
"""Of the normal distribution, two-sided 95 %."""


@dataclass(frozen=True, slots=True)
class SkillRecord:
    """What became of the runs of one version of a skill.

    ``runs``: succeeded and failed ones. ``rate`` of success, ``low`` and ``high`` the 95 % interval's ends, all in
    [0, 1]. ``failing``: steps that usually fail, as (step id, runs that failed there), most first. ``retire``: it had
    better not be run any more, and ``why``. ``cost_per_success`` in US dollars, of all ended runs, None where none
    succeeded or none told its cost.
    """

    skill_id: SkillId
    version: int
    name: str
    runs: int
    succeeded: int
    rate: float
    low: float
    high: float
    failing: tuple[tuple[str, int], ...] = ()
    retire: bool = False
    why: str = ""
    cost_per_success: float | None = None


def interval(succeeded: int, runs: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate, both ends in [0, 1]; (0, 1) where there were no runs.

    Args:
        succeeded: 0 to ``runs``.
        runs: >= 0.

    Source:
        E. B. Wilson, J. Am. Stat. Assoc. 22 (1927).
    """
    if runs == 0:
        return 0.0, 1.0
    rate, squared = succeeded / runs, _Z * _Z
    middle = (rate + squared / (2 * runs)) / (1 + squared / runs)
    half = _Z / (1 + squared / runs) * math.sqrt(rate * (1 - rate) / runs + squared / (4 * runs * runs))
    return max(0.0, min(middle - half, rate)), min(1.0, max(middle + half, rate))


def records(
    tally: Iterable[tuple[SkillId, int, RunStatus, int, float]],
    names: Mapping[SkillId, str],
    failed_steps: Mapping[SkillId, Iterable[tuple[int, str, int]]],
) -> tuple[SkillRecord, ...]:
    """A record for each version of each skill that was ever run to an end, by skill, the newest version first.

    Args:
        tally: Ended runs: skill, version, status, how many, summed cost.
        names: Of skills that are still there; another is called by its id.
        failed_steps: By skill: version, step id, runs that failed there.
    """
    counts: dict[tuple[SkillId, int], dict[RunStatus, int]] = defaultdict(dict)
    costs: dict[tuple[SkillId, int], float] = defaultdict(float)
    for skill, version, status, count, cost in tally:
        kept = counts[skill, version]
        kept[status] = kept.get(status, 0) + count
        costs[skill, version] += cost
    failing: dict[tuple[SkillId, int], list[tuple[str, int]]] = defaultdict(list)
    for skill, lines in failed_steps.items():
        for version, step, runs in lines:
            failing[skill, version].append((step, runs))
    return tuple(
        _record(skill, version, names.get(skill, str(skill)), counts[skill, version], costs[skill, version], steps)
        for skill, version in sorted(counts, key=lambda one: (one[0], -one[1]))
        for steps in (sorted(failing[skill, version], key=lambda step: (-step[1], step[0])),)
    )


def _record(
    skill: SkillId,
    version: int,
    name: str,
    counts: Mapping[RunStatus, int],
    cost: float,
    failing: list[tuple[str, int]],
) -> SkillRecord:
    succeeded, failed = counts.get(RunStatus.SUCCEEDED, 0), counts.get(RunStatus.FAILED, 0)
    runs = succeeded + failed
    low, high = interval(succeeded, runs)
    retire = runs >= RETIRE_RUNS_MIN and high < RETIRE_BELOW
    why = f"{failed} of {runs} runs failed; it succeeds in {high:.0%} of them at best." if retire else ""
    if retire and failing:
        why += f" It mostly fails at the step '{failing[0][0]}'."
    return SkillRecord(
        skill_id=skill,
        version=version,
        name=name,
        runs=runs,
        succeeded=succeeded,
        rate=succeeded / runs if runs else 0.0,
        low=low,
        high=high,
        failing=tuple(failing[:FAILING_MAX]),
        retire=retire,
        why=why,
        cost_per_success=cost / succeeded if succeeded and cost > 0 else None,
    )
