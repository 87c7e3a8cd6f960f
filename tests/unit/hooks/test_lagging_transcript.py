"""A host that runs its hooks before it has written the turn: what the assistant said is waited for, a moment."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from perdure.hooks import main
from perdure.hooks.hosts import Occasion

TOLD = "We decided to use Postgres 16 instead of MySQL for the billing service."
FOUND = "The root cause of the slow login was a missing index on users.email."
ROWS = [
    {"type": "user.message", "data": {"content": f"{TOLD} Why is the login slow?"}},
    {"type": "assistant.message", "data": {"content": FOUND}},
]


def _written(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _captured(tmp_path: Path, transcript: Path) -> set[str]:
    """What a turn's end hands to the gateway, which is away, so that it lies in the spool."""
    payload = {"sessionId": "s", "cwd": str(tmp_path), "transcriptPath": str(transcript), "stopReason": "end_turn"}
    environment = {"PERDURE_HOME": str(tmp_path / "home"), "PERDURE_URL": "http://127.0.0.1:9", "HOME": str(tmp_path)}
    _, work = main.respond(Occasion("copilot", "agentStop", payload, environment), environment, time.monotonic())
    assert work is not None
    work.afterwards()
    spooled = (tmp_path / "home" / "spool").glob("*.json")
    return {
        text for file in spooled for text in (TOLD, FOUND) if text in json.dumps(json.loads(file.read_text("utf-8")))
    }


@pytest.mark.requirement("I4-REAL-03")
@pytest.mark.parametrize("there_already", [0, 1])
def test_the_assistants_words_are_captured_though_they_are_written_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there_already: int
) -> None:
    transcript = tmp_path / "events.jsonl"
    if there_already:
        _written(transcript, ROWS[:there_already])
    monkeypatch.setattr(main.time, "sleep", lambda _: _written(transcript, ROWS))
    assert _captured(tmp_path, transcript) == {TOLD, FOUND}


def test_a_turn_without_the_assistants_words_is_waited_for_once_and_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = tmp_path / "events.jsonl"
    _written(transcript, ROWS[:1])
    moments = iter([0.0, *(number * main.FLUSH_POLL_S for number in range(100))])
    waited: list[float] = []
    monkeypatch.setattr(main.time, "sleep", waited.append)
    monkeypatch.setattr(main.time, "monotonic", lambda: next(moments))
    assert _captured(tmp_path, transcript) == {TOLD}
    assert 0 < len(waited) <= main.FLUSH_WAIT_S / main.FLUSH_POLL_S + 1
