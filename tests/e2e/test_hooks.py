"""The hooks against a running Perdure: what was told in one tool is in the context of another one's next session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hook_payloads import CAUSE, DECISION, PROMPT, TRANSCRIPTS, payload
from support.hook_process import run_hook
from support.stack import Stack, running, wait_until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as services:
        yield services


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    git = tmp_path / "shop" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    return git.parent


def context(raw: bytes) -> str:
    return str(json.loads(raw)["hookSpecificOutput"]["additionalContext"]) if raw else ""


@pytest.mark.requirement("HOOK-CAPTURE-03", "HOOK-RECALL-01", "HOOK-START-01")
def test_a_decision_told_in_one_tool_reaches_the_next_session_of_another(
    stack: Stack, shop: Path, tmp_path: Path
) -> None:
    home = tmp_path / "hooks"
    where = {"home": home, "url": stack.url}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(TRANSCRIPTS["claude"].text, encoding="utf-8")
    for event in ("Stop", "SessionEnd", "SessionEnd"):
        body = payload("claude", event, cwd=str(shop), transcript=str(transcript))
        done = run_hook("claude", event, body, **where)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    listed = stack.call("GET", "/memories?project=shop").json["memories"]
    assert sorted(memory["content"] for memory in listed) == sorted([DECISION, CAUSE])
    assert {tuple(memory["tags"]) for memory in listed} == {("captured",)}

    start = payload("codex", "SessionStart", cwd=str(shop), session_id="next")
    digest = context(run_hook("codex", "SessionStart", start, **where).stdout)
    assert "2 active memories of project “shop”" in digest
    assert DECISION in digest
    assert CAUSE in digest

    def recalled() -> str:
        # asked again, because the memory's vector may be a moment behind
        asking = payload("gemini", "BeforeAgent", cwd=str(shop), session_id="another")
        return context(run_hook("gemini", "BeforeAgent", asking, **where).stdout)

    assert DECISION in wait_until(recalled, what=f"an answer to {PROMPT!r}")
    assert recalled() == ""
    after = stack.call("GET", "/memories?project=shop").json["memories"]
    assert {memory["access_count"] for memory in after} == {0}
