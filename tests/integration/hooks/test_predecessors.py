"""What failed in NaN Forget's and Builderforce's hooks, tried on ours as a host would.

| failure | here, or where else |
|---|---|
| NaN §0 (1): ``prompt`` not read, so recall never spoke | ``test_a_prompt_in_claude_codes_own_field_…`` |
| §0 (2): nested turns not read; a bad line cancels all | ``test_real_transcript_lines_…`` |
| §0 (9): settings and files of others destroyed | ``installer/test_predecessors.py`` |
| §4: orders to the model, other projects' memories at a start | ``test_a_start_and_a_prompt_…`` |
| §4: «services not ready» told to the model | ``test_a_start_and_a_prompt_say_nothing_…`` |
| §4: all hits touched, wanted or not | ``test_what_is_looked_up_…`` |
| §4: hooks left out where the person has one | ``installer/test_hooking.py`` |
| §4: memory files: seven ways to lose one | ``test_no_memory_file_is_lost_…`` |
| §4: a process for each save, its errors unseen | ``unit/hooks/test_standard_library_only.py``, ``test_faults.py`` |
| §4: the last 15 sentences, chatter, no user, cut at dots | ``test_the_sweep_…`` |
| §4: each hook its own project's name | ``test_every_hook_names_the_project_alike`` |
| §7: no ``--yes``, dry run, uninstall, backup | ``installer/test_predecessors.py`` |
| §7: a start that waits for what it started | ``e2e/test_setup.py`` |
| Builderforce §7, 9.4 (28): Chinese and a lone keyword silent, stop words heard | ``test_what_bears_on_a_prompt_…`` |
| 9.4 (25): asks for a tool that is not there | ``test_reading_only.py`` |
| 9.4 (27): the user's words pushed out by a tool's output | ``test_a_tools_output_…`` |
| 9.4 (27): plain text at PreCompact | ``test_a_compaction_prints_nothing`` |
| 9.4 (27): 11 of 20 requests blocked | ``test_requests_do_not_hold_up_…`` |
| 9.4 (27): 15 of 20 statements missed | ``quality/test_capture.py`` |
| 9.4 (28): the whole store read at each prompt | one search by the gateway: ``test_what_is_looked_up_…`` |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from integration.hooks.conftest import MEMORY, hit, saves
from support.hook_payloads import CAUSE, DECISION, PROMPT, SESSION, claude_row, lines, payload
from support.hook_process import run_hook
from support.rest_gateway import RestGateway


@pytest.fixture
def run(gateway: RestGateway, home: Path, shop: Path) -> Any:
    def run(event: str, url: str = "", **more: Any) -> bytes:
        variables = {name: more.pop(name) for name in list(more) if name.startswith("PERDURE_")}
        body = {**payload("claude", event, cwd=str(shop)), **more}
        done = run_hook("claude", event, body, home=home, url=url or gateway.url, **variables)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    return run


def written(path: Path, *rows: Any) -> str:
    path.write_text(lines(*rows), encoding="utf-8")
    return str(path)


@pytest.mark.requirement("I4-DEFECT-NF-01")
def test_a_prompt_in_claude_codes_own_field_brings_memories(run: Any) -> None:
    answer = json.loads(run("UserPromptSubmit", prompt=PROMPT))
    assert DECISION in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.requirement("I4-DEFECT-NF-02")
def test_real_transcript_lines_are_captured_and_a_bad_one_costs_only_itself(
    run: Any, gateway: RestGateway, tmp_path: Path
) -> None:
    nested = [{"type": "text", "text": CAUSE}]
    path = written(
        tmp_path / "t.jsonl", claude_row("user", DECISION), '{"type": "assis', "", claude_row("assistant", nested)
    )
    run("SessionEnd", transcript_path=path)
    assert sorted(memory["content"] for memory in saves(gateway)) == sorted([DECISION, CAUSE])


@pytest.mark.requirement("I4-DEFECT-NF-SPEECH")
def test_a_start_and_a_prompt_are_told_facts_of_this_project(run: Any, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = {
        "recall": [hit(), hit({"id": "o", "project": "other", "content": "Others log."}, widened=True)]
    }
    for event, more in (("SessionStart", {"session_id": "a"}), ("UserPromptSubmit", {"prompt": PROMPT})):
        text = json.loads(run(event, **more))["hookSpecificOutput"]["additionalContext"]
        assert DECISION in text
        assert "Others log." not in text
        assert not {"must", "always", "immediately"} & set(text.lower().split())
    listed = next(asked for asked in gateway.asked if asked.path == "/memories")
    assert dict(listed.query)["project"] == "shop"


@pytest.mark.requirement("I4-DEFECT-NF-SPEECH")
def test_a_start_and_a_prompt_say_nothing_where_the_service_is_away(run: Any) -> None:
    for event in ("SessionStart", "UserPromptSubmit"):
        assert run(event, url="http://127.0.0.1:9") == b""


@pytest.mark.requirement("I4-DEFECT-NF-SPEECH", "I4-DEFECT-BF-28")
def test_what_is_looked_up_counts_as_shown_and_not_as_used_and_only_that_is_read(
    run: Any, gateway: RestGateway
) -> None:
    run("UserPromptSubmit", prompt=PROMPT)
    [asked] = gateway.asked
    query = dict(asked.query)
    assert (asked.path, query["shown_only"]) == ("/memories/search", "true")
    assert int(query["limit"]) <= 10


FEEDBACK = "---\ntype: feedback\n---\n"
NAMED = "---\nname: mocks\ndescription: Why there are none\ntype: user\n---\n"
MEMORY_FILES = {
    "no front matter": ("We deploy on Mondays.\n", "fact", ["We deploy on Mondays."]),
    "a body that begins with a dash": (
        f"{FEEDBACK}- no mocks\n- no sleeps\n",
        "preference",
        ["- no mocks\n- no sleeps"],
    ),
    "a nested type": ("---\nmetadata:\n  type: feedback\n---\nNo mocks.\n", "preference", ["No mocks."]),
    "name and description": (f"{NAMED}They lie.\n", "fact", ["Why there are none", "They lie."]),
    "more than 2,000 characters": ("x" * 3000 + "\nThe end.\n", "fact", ["The end."]),
    "a rule in the body": ("---\ntype: user\n---\nOne.\n\n---\n\nTwo.\n", "fact", ["One.", "Two."]),
}


@pytest.mark.requirement("I4-DEFECT-NF-FILES")
@pytest.mark.parametrize("why", MEMORY_FILES)
def test_no_memory_file_is_lost_for_how_it_is_written(run: Any, gateway: RestGateway, tmp_path: Path, why: str) -> None:
    text, kind, parts = MEMORY_FILES[why]
    file = tmp_path / "user" / ".claude" / "projects" / "-Users-me-my-cool-app" / "memory" / "topic.md"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    run("PostToolUse", tool_name="Write", tool_input={"file_path": str(file)})
    [memory] = saves(gateway)
    assert (memory["type"], memory["project"]) == (kind, "shop")
    assert all(part in memory["content"] for part in parts)


@pytest.mark.requirement("I4-DEFECT-NF-FILES")
def test_no_memory_file_is_lost_for_a_path_of_windows(run: Any, gateway: RestGateway, tmp_path: Path) -> None:
    name = ".claude\\projects\\app\\memory\\topic.md"
    # on this system that is one file of an odd name; what counts is that it is known for a memory file
    (tmp_path / "work" / "checkout" / name).write_text("We deploy on Mondays.\n", encoding="utf-8")
    run("PostToolUse", tool_name="Write", tool_input={"file_path": name})
    assert [memory["content"] for memory in saves(gateway)] == ["We deploy on Mondays."]


@pytest.mark.requirement("I4-DEFECT-NF-SWEEP")
def test_the_sweep_takes_the_best_of_both_sides_whole_and_no_chatter(
    run: Any, gateway: RestGateway, tmp_path: Path
) -> None:
    wish = "I prefer uv 0.9.2 over pip, and settings in src/app/settings.toml."
    chatter = [f"Let me check the file structure of repository number {n} first." for n in range(20)]
    path = written(
        tmp_path / "t.jsonl",
        claude_row("user", wish),
        claude_row("user", DECISION),
        # the best is said first, and much after it
        *(claude_row("assistant", [{"type": "text", "text": text}]) for text in chatter),
        claude_row("assistant", [{"type": "text", "text": "I am currently working on the pipeline design."}]),
    )
    run("SessionEnd", transcript_path=path)
    assert sorted(memory["content"] for memory in saves(gateway)) == sorted([wish, DECISION])
    assert {memory["origin"]["agent"] for memory in saves(gateway)} == {"user"}


@pytest.mark.requirement("I4-DEFECT-NF-SWEEP")
def test_every_hook_names_the_project_alike(run: Any, gateway: RestGateway, shop: Path, tmp_path: Path) -> None:
    deep = shop / "services" / "api"
    deep.mkdir(parents=True)
    file = tmp_path / "user" / ".claude" / "projects" / "-Users-me-my-cool-app" / "memory" / "topic.md"
    file.parent.mkdir(parents=True)
    file.write_text("We deploy on Mondays.\n", encoding="utf-8")
    where = {"cwd": str(deep)}
    run("SessionStart", **where)
    run("UserPromptSubmit", prompt=PROMPT, **where)
    run("PostToolUse", tool_name="Write", tool_input={"file_path": str(file)}, **where)
    # not the decision: what was shown in a session is not captured from it
    run("SessionEnd", transcript_path=written(tmp_path / "t.jsonl", claude_row("user", CAUSE)), **where)
    asked = {dict(each.query).get("project", "shop") for each in gateway.asked if each.method == "GET"}
    assert asked | {memory["project"] for memory in saves(gateway)} == {"shop"}
    assert len(saves(gateway)) == 2


@pytest.mark.requirement("I4-DEFECT-BF-28")
@pytest.mark.parametrize(
    ("prompt", "content", "similarity"),
    [
        ("计费服务使用哪个数据库？", "我们决定计费服务使用 Postgres 数据库。", 0.5),
        ("getInvoiceTotal", "getInvoiceTotal rounds half to even.", 0.45),
    ],
)
def test_what_bears_on_a_prompt_is_found_in_any_script_and_by_a_lone_name(
    run: Any, gateway: RestGateway, prompt: str, content: str, similarity: float
) -> None:
    gateway.routes["GET /memories/search"] = {"recall": [hit({"content": content}, similarity=similarity)]}
    assert content in json.loads(run("UserPromptSubmit", prompt=prompt))["hookSpecificOutput"]["additionalContext"]


@pytest.mark.requirement("I4-DEFECT-BF-28")
def test_words_that_say_nothing_bring_no_memory(run: Any, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = {
        "recall": [hit({"content": "The cache is for the one and the other."}, similarity=0.2, score=0.4)]
    }
    assert run("UserPromptSubmit", prompt="What is the plan for the day and the week?") == b""


@pytest.mark.requirement("I4-DEFECT-BF-27")
def test_a_tools_output_of_a_megabyte_does_not_hide_what_the_user_said(
    run: Any, gateway: RestGateway, tmp_path: Path
) -> None:
    output = [{"type": "tool_result", "tool_use_id": "t", "content": "x" * (1 << 20)}]
    path = written(
        tmp_path / "t.jsonl", claude_row("user", DECISION), claude_row("user", output, toolUseResult={"stdout": "x"})
    )
    run("Stop", transcript_path=path, last_assistant_message="Done.")
    assert [memory["content"] for memory in saves(gateway)] == [DECISION]


@pytest.mark.requirement("I4-DEFECT-BF-27")
def test_a_compaction_prints_nothing(run: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", claude_row("user", DECISION))
    assert run("PreCompact", transcript_path=path, trigger="auto") == b""
    assert run("PostCompact", transcript_path=path, trigger="auto", compact_summary=CAUSE) == b""


REQUESTS = (
    "Why does this test never finish?",
    "You should look at the logs first.",
    "Please make sure that it builds.",
    "stop the docker container",
    "Can you always show the diff before you commit?",
    "You forgot the second file, that's wrong.",
    "Remember to push when you are done with it.",
)


@pytest.mark.requirement("I4-DEFECT-BF-27")
@pytest.mark.parametrize("nudge", ["", "1"])
def test_requests_do_not_hold_up_the_end_of_a_turn_and_are_not_stored(
    run: Any, gateway: RestGateway, tmp_path: Path, nudge: str
) -> None:
    path = written(tmp_path / "t.jsonl", *(claude_row("user", text) for text in REQUESTS))
    assert run("Stop", transcript_path=path, last_assistant_message="Done.", PERDURE_NUDGE=nudge) == b""
    run("SessionEnd", transcript_path=path, PERDURE_NUDGE=nudge)
    assert saves(gateway) == []


@pytest.mark.requirement("I4-DEFECT-BF-28")
def test_what_was_shown_is_remembered_in_the_home_and_not_in_a_folder_for_all(
    run: Any, home: Path, tmp_path: Path
) -> None:
    run("UserPromptSubmit", prompt=PROMPT)
    [state] = (home / "sessions").glob("*.json")
    assert MEMORY["id"] in state.read_text(encoding="utf-8")
    assert SESSION not in state.name
    assert (home / "sessions").stat().st_mode & 0o077 == 0
