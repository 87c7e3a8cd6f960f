from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from perdure.hooks.transcripts import turn_of, turns_since
from support.hook_payloads import TRANSCRIPTS


def soon() -> float:
    return time.monotonic() + 30


@pytest.mark.parametrize("host", sorted(TRANSCRIPTS))
@pytest.mark.requirement("HOOK-TRANSCRIPT-01")
def test_turns_of_each_hosts_transcript_and_nothing_else(tmp_path: Path, host: str) -> None:
    path = tmp_path / f"session{TRANSCRIPTS[host].suffix}"
    path.write_text(TRANSCRIPTS[host].text, encoding="utf-8")
    turns, offset = turns_since(str(path), 0, soon())
    assert turns == TRANSCRIPTS[host].turns
    assert turns_since(str(path), offset, soon()) == ([], offset)


@pytest.mark.requirement("HOOK-TRANSCRIPT-01")
def test_a_bad_line_costs_only_itself(tmp_path: Path) -> None:
    row = json.dumps({"type": "user", "message": {"role": "user", "content": "said"}})
    path = tmp_path / "t.jsonl"
    path.write_bytes(f'{row}\n{{"type":"user", broken\n\xff\xfe user\n{row}\n'.encode("latin-1"))
    assert turns_since(str(path), 0, soon())[0] == [("user", "said"), ("user", "said")]


def test_a_line_that_is_still_being_written_is_read_the_next_time(tmp_path: Path) -> None:
    row = json.dumps(
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "x"}]}}
    )
    path = tmp_path / "t.jsonl"
    path.write_text(f"{row}\n{row[:40]}")
    turns, offset = turns_since(str(path), 0, soon())
    assert turns == [("assistant", "x")]
    path.write_text(f"{row}\n{row}\n")
    assert turns_since(str(path), offset, soon())[0] == [("assistant", "x")]


def test_a_transcript_that_became_shorter_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": "new"}}) + "\n")
    assert turns_since(str(path), 10_000, soon())[0] == [("user", "new")]


@pytest.mark.parametrize(
    "row",
    [
        None, [], "text", {}, {"type": "user"}, {"type": "user", "message": "text"},
        {"type": "user", "message": {"content": 7}},
        {"type": "system", "message": {"role": "user", "content": "x"}},
        {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "x"}},
        {"type": "user", "toolUseResult": {"stdout": "x"}, "message": {"role": "user", "content": "x"}},
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "x"}},
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["x"]}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "x"}},
        {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [{"text": "x"}]}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "x"}},
    ],
)  # fmt: skip
def test_rows_that_are_nobodys_turn_are_left_out(row: object) -> None:
    assert turn_of(row) is None


def test_nested_content_is_read_and_tool_traffic_in_it_is_not() -> None:
    content = [
        {"type": "thinking", "thinking": "hidden"},
        {"type": "content", "content": [{"type": "text", "text": "one"}, {"type": "tool_result", "content": "no"}]},
        {"type": "tool_use", "input": {"text": "no"}},
        {"type": "text", "text": "two"},
    ]
    assert turn_of({"type": "assistant", "message": {"role": "assistant", "content": content}}) == (
        "assistant",
        "one\ntwo",
    )


def test_reading_stops_when_the_time_is_up_and_goes_on_from_there(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [json.dumps({"type": "user", "message": {"role": "user", "content": str(n)}}) for n in range(3)]
    path.write_text("\n".join(rows) + "\n")
    turns: list[tuple[str, str]] = []
    offset = 0
    for _ in range(3):
        some, offset = turns_since(str(path), offset, time.monotonic() - 1)
        turns += some
    assert turns == [("user", "0"), ("user", "1"), ("user", "2")]


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_only_a_regular_file_is_read(tmp_path: Path, suffix: str) -> None:
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(OSError, match="no regular file"):
            turns_since(str(tmp_path / f"{name}{suffix}"), 0, soon())
