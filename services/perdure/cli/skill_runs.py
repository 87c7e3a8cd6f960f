"""``routine`` and ``run``: when skills run, and how that went."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.steps import CURSOR, LIMIT, counted, moment_text, more, path_of, schedule_text
from perdure.cli.terminal import note, one_line, paint, say, say_json, table
from perdure.cli.words import json_option

_HOLDER = click.option("--holder", metavar="NAME", help="Name of this host; its host name by default.")


@click.group()
def routine_command() -> None:
    """Say when skills run; take what is due. The host that takes one runs it."""


@routine_command.command("set")
@click.argument("id_", metavar="SKILL")
@click.option("--every", type=click.IntRange(1, 10_080), metavar="MINUTES", help="Every so many minutes.")
@click.option("--daily", metavar="HH:MM", help="Every day at this time.")
@click.option("--cron", metavar="EXPRESSION", help="When these five fields say so.")
@click.option("--zone", metavar="NAME", help="Time zone of --daily and --cron, as Europe/Berlin.")
@click.option("--value", "values", multiple=True, metavar="NAME=TEXT", help="A parameter; no secrets.")
@click.option("--off", is_flag=True, help="Keep it, but do not run it.")
@json_option
def set_routine(
    id_: str,
    every: int | None,
    daily: str | None,
    cron: str | None,
    zone: str | None,
    values: tuple[str, ...],
    off: bool,
    as_json: bool,
) -> None:
    """Schedule a skill."""
    body = {"schedule": _schedule_of(every, daily, cron, zone), "values": _pairs(values), "enabled": not off}
    skill = Gateway(Place()).call("PUT", path_of("skills", id_, "routine"), body)
    if as_json:
        say_json(skill)
    else:
        say(f"{paint('Scheduled', fg='green')}: {one_line(skill['name'])} {schedule_text(skill['routine'])}")


def _schedule_of(every: int | None, daily: str | None, cron: str | None, zone: str | None) -> dict[str, Any]:
    if [every, daily, cron].count(None) != 2:
        raise Failure("Say one of --every, --daily and --cron.", Exit.USAGE)
    if every is not None:
        return {"every": "minutes", "minutes": every}
    if cron is not None:
        return {"every": "cron", "expression": cron, "zone": zone or _zone_here()}
    hour, colon, minute = str(daily).partition(":")
    if not (colon and hour.isdigit() and minute.isdigit()):
        raise Failure("--daily takes a time such as 07:30.", Exit.USAGE)
    return {"every": "day", "hour": int(hour), "minute": int(minute), "zone": zone or _zone_here()}


def _zone_here() -> str:
    """This machine's time zone by name; UTC where the system does not tell."""
    try:
        parts = Path("/etc/localtime").resolve().parts
        name = "/".join(parts[parts.index("zoneinfo") + 1 :])
    except (OSError, ValueError):
        return "UTC"
    return name.removeprefix("posix/").removeprefix("Etc/") or "UTC"


def _pairs(values: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in values:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Failure(f"--value takes NAME=TEXT, not {pair}.", Exit.USAGE)
        found[name] = text
    return found


@routine_command.command("unset")
@click.argument("id_", metavar="SKILL")
@json_option
def unset_routine(id_: str, as_json: bool) -> None:
    """Take a skill's schedule away."""
    skill = Gateway(Place()).call("DELETE", path_of("skills", id_, "routine"))
    if as_json:
        say_json(skill)
        return
    say(f"{paint('Not scheduled any more', fg='green')}: {one_line(skill['name'])}")


@routine_command.command("due")
@_HOLDER
@click.option("--look", is_flag=True, help="Only look; take nothing.")
@json_option
def due_routines(holder: str | None, look: bool, as_json: bool) -> int:
    """Take what is due, for ten minutes; nobody else gets it meanwhile."""
    body = {"holder": holder or socket.gethostname(), "claim": not look}
    answer = Gateway(Place()).call("POST", "/skills/due", body)
    if as_json:
        say_json(answer)
    elif not answer["skills"]:
        note("Nothing is due.")
    else:
        table(
            ("id", "name", "routine"),
            [(one["id"], one["name"], schedule_text(one.get("routine"))) for one in answer["skills"]],
        )
    return Exit.OK if answer["skills"] else Exit.NO_MATCH


@routine_command.command("heartbeat")
@click.argument("id_", metavar="SKILL")
@_HOLDER
@json_option
def keep_routine(id_: str, holder: str | None, as_json: bool) -> None:
    """Keep what was taken for ten minutes more."""
    body = {"holder": holder or socket.gethostname()}
    skill = Gateway(Place()).call("POST", path_of("skills", id_, "heartbeat"), body)
    if as_json:
        say_json(skill)
        return
    say(f"{paint('Kept', fg='green')}: {one_line(skill['name'])}, until {moment_text(skill['routine']['leaseUntil'])}")


@routine_command.command("release")
@click.argument("id_", metavar="SKILL")
@_HOLDER
@json_option
def release_routine(id_: str, holder: str | None, as_json: bool) -> None:
    """Give back what was taken, so that another host may take it."""
    body = {"holder": holder or socket.gethostname()}
    skill = Gateway(Place()).call("POST", path_of("skills", id_, "release"), body)
    if as_json:
        say_json(skill)
        return
    say(f"{paint('Given back', fg='green')}: {one_line(skill['name'])}")


# ---------------------------------------------------------------- runs


@click.group()
def run_command() -> None:
    """Run skills by hand or by script, and see what happened."""


@run_command.command("start")
@click.argument("skill", metavar="SKILL")
@click.option("--routine", is_flag=True, help="It was due, and this host took it.")
@_HOLDER
@click.option("--model", metavar="NAME", help="Which model runs it.")
@json_option
def start_run(skill: str, routine: bool, holder: str | None, model: str | None, as_json: bool) -> None:
    """Begin a run and its audit trail."""
    body = {
        "skill_id": skill,
        "trigger": "routine" if routine else "manual",
        "holder": holder or socket.gethostname(),
        "model": model,
    }
    run = Gateway(Place()).call("POST", "/runs", {name: value for name, value in body.items() if value is not None})
    if as_json:
        say_json(run)
    else:
        say(run["id"])


@run_command.command("step")
@click.argument("run", metavar="RUN")
@click.argument("idx", type=click.IntRange(0))
@click.argument("step", metavar="STEP")
@click.argument("outcome", type=click.Choice(("ok", "fallback", "failed", "approved", "denied", "waiting")))
@click.option("--detail", metavar="TEXT", help="What happened.")
@json_option
def log_step(run: str, idx: int, step: str, outcome: str, detail: str | None, as_json: bool) -> None:
    """Say what became of a step. One that asks first is refused until 'approved' was said for it."""
    body: dict[str, Any] = {"idx": idx, "step_id": step, "outcome": outcome}
    if detail is not None:
        body["detail"] = detail
    after = Gateway(Place()).call("POST", path_of("runs", run, "steps"), body)
    if as_json:
        say_json(after)
    else:
        say(f"{one_line(step)} {outcome}; the run is {_status(after)}")


@run_command.command("finish")
@click.argument("run", metavar="RUN")
@click.argument("status", type=click.Choice(("succeeded", "failed", "stopped", "denied")))
@click.option("--error", metavar="TEXT", help="What went wrong.")
@click.option("--tokens", type=click.IntRange(0), help="Tokens it took.")
@click.option("--cost", type=click.FloatRange(0), help="US dollars it took.")
@json_option
def finish_run(run: str, status: str, error: str | None, tokens: int | None, cost: float | None, as_json: bool) -> None:
    """Say how a run ended."""
    body = {"status": status, "error": error, "tokens": tokens, "cost": cost}
    given = {name: value for name, value in body.items() if value is not None}
    after = Gateway(Place()).call("POST", path_of("runs", run, "finish"), given)
    if as_json:
        say_json(after)
    else:
        say(f"The run of {one_line(after['skillName'])} {_ENDED[after['status']]}")


@run_command.command("cancel")
@click.argument("run", metavar="RUN")
@json_option
def cancel_run(run: str, as_json: bool) -> None:
    """Stop a run."""
    after = Gateway(Place()).call("POST", path_of("runs", run, "cancel"))
    if as_json:
        say_json(after)
        return
    say(f"{paint('Stopped', fg='green')}: {after['id']}")


@run_command.command("list")
@click.option("--skill", metavar="ID", help="Only of this skill.")
@LIMIT
@CURSOR
@json_option
def list_runs(skill: str | None, limit: int, cursor: str, as_json: bool) -> None:
    """List runs of skills, newest first."""
    query = [("skill_id", skill), ("limit", limit), ("cursor", cursor or None)]
    answer = Gateway(Place()).get("/runs", query)
    if as_json:
        say_json(answer)
        return
    if not answer["runs"]:
        note("No run yet. Begin one with: perdure run start SKILL")
        return
    table(
        ("id", "when", "skill", "status"),
        [
            (
                one["id"],
                moment_text(one.get("startedAt")),
                one["skillName"],
                _status(one) + (f": {one['error']}" if one.get("error") else ""),
            )
            for one in answer["runs"]
        ],
    )
    more(answer)


_ENDED = {"succeeded": "succeeded.", "failed": "failed.", "stopped": "was stopped.", "denied": "was denied."}


def _status(run: dict[str, Any]) -> str:
    return one_line(run["status"]).replace("_", " ")


@run_command.command("show")
@click.argument("id_", metavar="ID")
@json_option
def show_run(id_: str, as_json: bool) -> None:
    """Show a run and its audit trail."""
    run = Gateway(Place()).get(path_of("runs", id_))
    if as_json:
        say_json(run)
        return
    version = f"version {run['skillVersion']} of {one_line(run['skillName'])}"
    say(f"{paint(_status(run), bold=True)}: {version}, {moment_text(run.get('startedAt'))}")
    used = [run["trigger"] + (f" on {one_line(run['holder'])}" if run.get("holder") else "")]
    if run.get("model"):
        used.append(one_line(run["model"]))
    if run.get("tokens") is not None:
        used.append(counted(run["tokens"], "token"))
    if run.get("cost") is not None:
        used.append(f"${run['cost']:.4f}")
    say(f"  {', '.join(used)}")
    if run.get("error"):
        say(f"  {one_line(run['error'])}")
    for line in run["steps"]:
        said = f"  {one_line(line['detail'])}" if line.get("detail") else ""
        say(f"  {moment_text(line['at'])}  {line['idx']:>3}  {one_line(line['stepId'])}  {line['outcome']}{said}")
