"""What the commands of experience share: how steps, times and schedules read, and pages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import click

from perdure.cli.terminal import note, one_line, when

LIMIT = click.option("-n", "--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many.")
CURSOR = click.option("--cursor", default="", metavar="TEXT", help="Go on where a page ended.")


def path_of(*parts: str) -> str:
    """A path of the gateway from its parts."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def more(answer: dict[str, Any]) -> None:
    """Say how to go on where there is another page."""
    if cursor := answer.get("next_cursor"):
        note(f"More with: --cursor {cursor}")


def action_text(action: dict[str, Any]) -> str:
    """A step's action in words."""
    target = action.get("target") or {}
    label = one_line(target.get("name") or target.get("automationId") or "")
    blank = "<a secret>" if action.get("secret") is True else None
    where = f' in "{one_line(target["windowTitle"])}"' if target.get("windowTitle") else ""
    match action["kind"]:
        case "click":
            return f'click "{label}"{where}'
        case "setValue":
            return f'set "{label}"{where} to {blank or value_text(action.get("value"))}'
        case "keys":
            return f"press {blank or value_text(action.get('keys'))}" + (f' in "{label}"{where}' if label else "")
        case _:
            arguments = ", ".join(f"{name}={value_text(one)}" for name, one in (action.get("arguments") or {}).items())
            return f"call {one_line(action.get('name'))}({one_line(arguments)})"


def value_text(value: Any) -> str:
    """A value as JSON; a parameter's name between < and >."""
    if isinstance(value, dict) and value.get("from") == "param":
        return f"<{one_line(value.get('name'))}>"
    if isinstance(value, dict) and value.get("from") == "literal":
        value = value.get("text", value.get("value"))
    return one_line(json.dumps(value, ensure_ascii=False))


def moment_text(milliseconds: Any) -> str:
    """Milliseconds since 1970 as local date and minute."""
    if not isinstance(milliseconds, int | float):
        return ""
    return when(datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat())


def schedule_text(routine: dict[str, Any] | None) -> str:
    """A routine in words; nothing where there is none."""
    if not routine:
        return ""
    schedule = routine["schedule"]
    zone = f" {one_line(schedule['zone'])}" if schedule.get("zone") else ""
    match schedule["every"]:
        case "minutes":
            said = "every minute" if schedule["minutes"] == 1 else f"every {schedule['minutes']} minutes"
        case "day":
            said = f"daily at {schedule['hour']:02}:{schedule['minute']:02}{zone}"
        case _:
            said = f'at cron "{one_line(schedule["expression"])}"{zone}'
    return said if routine.get("enabled", True) else f"{said} (off)"


def counted(number: int, what: str) -> str:
    """``number`` and its noun, "1 run" or "2 runs"."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")
