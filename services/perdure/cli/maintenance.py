"""``consolidate``, ``clean``, ``runs``, ``undo``, ``why``, ``stub``, ``unstub``: how memories are looked after."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.saving import path_id
from perdure.cli.terminal import note, one_line, paint, progress, say, say_json, table, when
from perdure.cli.words import json_option, project_option

ENDED = frozenset({"succeeded", "failed", "cancelled"})
POLL_S = 0.3
PLOT_DAYS = 360
PLOT_COLUMNS = 60
PLOT_ROWS = 6
LINES = (0.3, 0.1)

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
_NO_WAIT = click.option("--no-wait", is_flag=True, help="Start it and return.")


@click.command()
@project_option("Only this project.")
@_DRY_RUN
@_NO_WAIT
@json_option
def consolidate_command(project: str | None, dry_run: bool, no_wait: bool, as_json: bool) -> int:
    """Make one memory of many aged ones about one thing. Runs by itself; `perdure undo` takes a run back."""
    return _run("/memories/consolidate", project, dry_run, no_wait, as_json)


compact_command = consolidate_command
"""NaN Forget's other word for it."""


@click.command()
@project_option("Only this project.")
@_DRY_RUN
@_NO_WAIT
@json_option
def clean_command(project: str | None, dry_run: bool, no_wait: bool, as_json: bool) -> int:
    """Archive what faded or ended, settle what contradicts. Runs by itself; `perdure undo` takes a run back."""
    return _run("/memories/clean", project, dry_run, no_wait, as_json)


def _run(path: str, project: str | None, dry_run: bool, no_wait: bool, as_json: bool) -> int:
    gateway = Gateway(Place())
    body: dict[str, Any] = {"dry_run": dry_run, "wait": False}
    if project is not None:
        body["project"] = project
    run = gateway.call("POST", path, body)["run"]
    if not no_wait:
        try:
            run = _watched(gateway, run)
        except KeyboardInterrupt:
            note(f"The run goes on in the background; see it with: perdure runs {run['id']}")
            return Exit.INTERRUPTED
    if as_json:
        say_json(run)
    else:
        _show(run)
    return Exit.OK if no_wait or run["state"] == "succeeded" else Exit.ERROR


def _watched(gateway: Gateway, run: dict[str, Any]) -> dict[str, Any]:
    with progress("Working") as draw:
        while run["state"] not in ENDED:
            draw(int(run.get("done") or 0), int(run.get("total") or 0))
            time.sleep(POLL_S)
            run = gateway.get(f"/maintenance/runs/{quote(run['id'], safe='')}")
    return run


@click.command()
@click.argument("id_", metavar="[ID]", required=False)
@click.option("-n", "--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many.")
@json_option
def runs_command(id_: str | None, limit: int, as_json: bool) -> None:
    """List runs of maintenance, newest first; with an id, show what that run did."""
    gateway = Gateway(Place())
    if id_ is not None:
        run = gateway.get(f"/maintenance/runs/{quote(id_, safe='')}")
        if as_json:
            say_json(run)
        else:
            _show(run)
        return
    answer = gateway.get("/maintenance/runs", [("limit", limit)])
    if as_json:
        say_json(answer)
        return
    if not answer["runs"]:
        note("No run yet. The tenth save, or a day, sets one off.")
        return
    table(
        ("id", "what", "set off by", "state", "when", "did"),
        [
            (
                run["id"],
                ", ".join(run["tasks"]) + (" (dry)" if run["dry_run"] else ""),
                run["trigger"],
                "undone" if run.get("undone_at") else run["state"],
                when(run["created_at"]),
                run.get("error") or run["message"],
            )
            for run in answer["runs"]
        ],
    )


def _show(run: dict[str, Any]) -> None:
    state = "undone" if run.get("undone_at") else run["state"]
    say(f"{paint(state, bold=True)}: {one_line(run.get('error') or run.get('message') or '')}")
    for name, count in sorted((run.get("counts") or {}).items()):
        say(f"  {name.replace('_', ' ')}: {count}")
    for line in run.get("plan") or []:
        say(f"  {one_line(line)}")
    for item in run.get("items") or []:
        winner = f" -> {item['winner']}" if item.get("winner") else ""
        say(f"  {item['act']} {item['memory']}{winner}: {one_line(item['summary'])}")
    did = any(count for name, count in (run.get("counts") or {}).items() if name != "duration_ms")
    if state == "succeeded" and not run["dry_run"] and did:
        say(paint(f"  perdure undo {run['id']} takes it back", dim=True))
    elif state not in ENDED and state != "undone":
        say(paint(f"  perdure runs {run['id']} shows how far it is", dim=True))


@click.command()
@click.argument("id_", metavar="RUN")
@json_option
def undo_command(id_: str, as_json: bool) -> None:
    """Put back what a run changed. What somebody changed since stays as it is."""
    answer = Gateway(Place(), timeout_s=150.0).call("POST", f"/maintenance/runs/{quote(id_, safe='')}/undo")
    if as_json:
        say_json(answer)
        return
    say(f"{paint('Undone', fg='green')}: {answer['restored']} put back, {answer['removed']} taken away")
    reasons = {"changed_since": "were changed since", "taken": "have their text or key in another memory by now"}
    for reason, count in answer["left"].items():
        say(f"  {count} {reasons.get(reason, reason)}, and stay as they are")


@click.command()
@click.argument("id_", metavar="ID")
@json_option
def why_command(id_: str, as_json: bool) -> None:
    """Show what a memory weighs, how it fades, and what happens to it when."""
    answer = Gateway(Place()).get(f"/memories/{path_id(id_)}/lifecycle")
    if as_json:
        say_json(answer)
        return
    memory = answer["memory"]
    say(paint(one_line(memory["summary"]), bold=True) + f"  [{memory['type']} {memory['tier']} {memory['status']}]")
    say(f"weight {answer['weight']:.3f} (what a match's relevance is multiplied by) =")
    say(f"    decay       {answer['decay_weight']:.3f}  {answer['idle_days']:.1f} days since it was last used")
    say(f"  x frequency   {answer['frequency_boost']:.3f}  used {memory['access_count']} times")
    say(f"  x confidence  {answer['confidence_boost']:.3f}  {memory['confidence']:.2f} ({memory['provenance']})")
    say(f"  x importance  {answer['importance_boost']:.3f}  {memory['importance']:.2f}")
    say()
    for line in plot(answer.get("half_life_days"), float(answer["idle_days"])):
        say(line)
    say()
    _future(answer)


def _future(answer: dict[str, Any]) -> None:
    if reason := answer.get("stays_because"):
        say(f"Nothing happens to it: {one_line(reason)}.")
    now = datetime.now(UTC)
    words = {
        "may_be_consolidated": "may become one with others about the same thing",
        "archived": "is archived",
        "expires": "ends, and is not found any more",
    }
    for event in answer["events"]:
        at = datetime.fromisoformat(event["at"].replace("Z", "+00:00"))
        days = (at - now) / timedelta(days=1)
        left = f"in {days:.0f} days" if days >= 1 else "at the next run"
        say(f"{at.date().isoformat()} ({left}): it {words.get(event['what'], event['what'])}, unless it is used")
    for run in answer["runs"]:
        say(f"Run {run} changed it (perdure undo {run} takes that back)")


def plot(half_life_days: float | None, idle_days: float) -> list[str]:
    """How the decay weight falls over a year without use; ``o`` is now, the dashed lines are 0.3 and 0.1."""
    days = max(PLOT_DAYS, idle_days * 1.1)
    columns = [column * days / (PLOT_COLUMNS - 1) for column in range(PLOT_COLUMNS)]
    weights = [1.0 if half_life_days is None else 0.5 ** (day / half_life_days) for day in columns]
    now = min(PLOT_COLUMNS - 1, round(idle_days / days * (PLOT_COLUMNS - 1)))
    grid = [[" "] * PLOT_COLUMNS for _ in range(PLOT_ROWS + 1)]
    for level in LINES:
        grid[_row(level)] = ["-" if column % 2 == 0 else " " for column in range(PLOT_COLUMNS)]
    for column, weight in enumerate(weights):
        grid[_row(weight)][column] = "o" if column == now else "*"
    labels = {0: "1.0", _row(LINES[0]): "0.3", _row(LINES[1]): "0.1"}
    lines = [f"{labels.get(number, ''):>5} |{''.join(row).rstrip()}" for number, row in enumerate(grid)]
    return [*lines, f"{'':>5} +{'-' * PLOT_COLUMNS}", f"{'':>6} 0 days{f'{days:.0f} days':>{PLOT_COLUMNS - 6}}"]


def _row(weight: float) -> int:
    return min(PLOT_ROWS, round((1.0 - weight) * PLOT_ROWS))


@click.command()
@click.argument("names", metavar="KEY_OR_ID", nargs=-1, required=True)
@click.option("--stub", metavar="TEXT", help="Your own line; for one memory only.")
@click.option("--max-chars", type=click.IntRange(20, 2000), help="Of the stub's first line; 140 by default.")
@_DRY_RUN
@json_option
def stub_command(names: tuple[str, ...], stub: str | None, max_chars: int | None, dry_run: bool, as_json: bool) -> int:
    """Put one-line stubs in the place of long memories in contexts; their texts stay in the store."""
    body = {"memories": list(names), "stub": stub, "max_chars": max_chars, "dry_run": dry_run}
    answer = Gateway(Place(), timeout_s=150.0).call(
        "POST", "/memories/compact", {name: value for name, value in body.items() if value is not None}
    )
    if as_json:
        say_json(answer)
    else:
        for item in answer["compacted"]:
            say(f"{one_line(item.get('key') or item['id'])}: {one_line(item['stub'])}")
        for item in answer["skipped"]:
            say(f"{one_line(item['memory'])}: skipped, {item['reason']}")
        say(f"{answer['bytes_saved']} bytes {'would be ' if dry_run else ''}saved")
    return Exit.OK if answer["compacted"] else Exit.NO_MATCH


@click.command()
@click.argument("names", metavar="KEY_OR_ID", nargs=-1, required=True)
@json_option
def unstub_command(names: tuple[str, ...], as_json: bool) -> int:
    """Take the stubs of memories away."""
    answer = Gateway(Place()).call("POST", "/memories/restore-content", {"unstub": list(names)})
    if as_json:
        say_json(answer)
    else:
        for id_ in answer["restored"]:
            say(f"{paint('Without stub', fg='green')}: {id_}")
        for name in answer["unmatched"]:
            say(f"{one_line(name)}: has no stub")
    if not answer["restored"]:
        raise Failure("Nothing was changed.", Exit.NOT_FOUND)
    return Exit.OK
