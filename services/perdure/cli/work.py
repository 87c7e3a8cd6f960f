"""``jobs`` and ``reembed``: work that runs beside the requests, watched through the gateway."""

from __future__ import annotations

import time
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.saving import path_id
from perdure.cli.terminal import note, one_line, progress, say, say_json, table, when
from perdure.cli.words import json_option

ENDED = frozenset({"succeeded", "failed", "cancelled"})
POLL_S = 0.3
QUEUED_LONG_S = 10.0
AWAY_S = 60.0
"""How long the gateway may be away while a job is watched; a restart takes seconds."""


@click.group()
def jobs_command() -> None:
    """List, show and cancel background jobs."""


@jobs_command.command("list")
@click.option("--kind", metavar="KIND", help="Only of this kind, such as reembed.")
@click.option("-n", "--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="How many.")
@json_option
def _list(kind: str | None, limit: int, as_json: bool) -> None:
    """List jobs, newest first."""
    answer = Gateway(Place()).get("/maintenance/jobs", [("kind", kind), ("limit", limit)])
    if as_json:
        say_json(answer)
        return
    jobs = answer.get("jobs") or []
    if not jobs:
        note("No jobs.")
        return
    table(
        ("id", "kind", "state", "done", "created", "message"),
        [
            (
                job.get("id"),
                job.get("kind"),
                job.get("state"),
                _done(job),
                when(job.get("created_at", "")),
                job.get("error") or job.get("message", ""),
            )
            for job in jobs
        ],
    )


@jobs_command.command("get")
@click.argument("id_", metavar="ID")
@json_option
def _get(id_: str, as_json: bool) -> None:
    """Show one job and how far it is."""
    job = Gateway(Place()).get(f"/maintenance/jobs/{path_id(id_)}")
    if as_json:
        say_json(job)
        return
    say(f"{job.get('kind')} {job.get('id')}: {job.get('state')}, {_done(job)} done")
    for name in ("message", "error"):
        if job.get(name):
            say(f"  {one_line(job[name])}")


@jobs_command.command("cancel")
@click.argument("id_", metavar="ID")
@json_option
def _cancel(id_: str, as_json: bool) -> None:
    """Ask a job to stop at its next safe point."""
    job = Gateway(Place()).call("POST", f"/maintenance/jobs/{path_id(id_)}/cancel")
    if as_json:
        say_json(job)
    else:
        say(f"{job.get('kind')} {job.get('id')}: {job.get('state')}; it stops at its next safe point.")


def _done(job: dict[str, Any]) -> str:
    return f"{job.get('done', 0)}/{job['total']}" if job.get("total") else str(job.get("done", 0))


@click.command()
@click.option("--no-wait", is_flag=True, help="Start it and return.")
@json_option
def reembed_command(no_wait: bool, as_json: bool) -> int:
    """Embed every memory anew after the model changed.

    Searches go on by words and by the old vectors meanwhile. Ctrl-C leaves the job running; started again, the
    command goes on watching it.
    """
    gateway = Gateway(Place())
    job = gateway.call("POST", "/maintenance/jobs", {"kind": "reembed"})
    if not no_wait:
        try:
            job = _watch(gateway, job)
        except KeyboardInterrupt:
            note(f"The job goes on in the background; see it with: perdure jobs get {job.get('id')}")
            return Exit.INTERRUPTED
    if as_json:
        say_json(job)
    else:
        say(f"{job.get('state')}: {one_line(job.get('error') or job.get('message') or job.get('id'))}")
    if no_wait or job.get("state") == "succeeded":
        return Exit.OK
    return Exit.ERROR


def _watch(gateway: Gateway, job: dict[str, Any]) -> dict[str, Any]:
    began = answered = time.monotonic()
    warned = False
    with progress("Embedding") as draw:
        while job.get("state") not in ENDED:
            draw(int(job.get("done") or 0), int(job.get("total") or 0))
            if job.get("state") == "queued" and not warned and time.monotonic() - began > QUEUED_LONG_S:
                warned = True
                note("No worker has taken the job yet; see: perdure status")
            time.sleep(POLL_S)
            try:
                job = gateway.get(f"/maintenance/jobs/{job['id']}")
                answered = time.monotonic()
            except Failure as failure:
                if failure.status != Exit.AWAY or time.monotonic() - answered > AWAY_S:
                    raise
    return job
