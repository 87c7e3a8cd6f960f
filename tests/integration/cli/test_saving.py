from __future__ import annotations

import json

import pytest

from integration.cli.conftest import Command
from support.rest_gateway import Answered, Asked, RestGateway, problem

SAVED = {
    "id": "0197-1",
    "deduplicated": False,
    "outcome": "created",
    "project": "_global",
    "summary": "We use pnpm",
    "revision": 1,
    "embedded": True,
    "superseded": [],
    "related": [],
    "redacted": [],
    "truncated": False,
    "replayed": False,
}


@pytest.fixture
def saving(gateway: RestGateway) -> RestGateway:
    gateway.routes |= {
        "POST /memories": Answered(SAVED, 201),
        "POST /memories/checkpoint": Answered(SAVED, 201),
        "PATCH /memories/0197-1": {"updated": "0197-1", "revision": 2, "embedded": True, "redacted": [], "memory": {}},
    }
    return gateway


def test_add_saves_a_fact_of_the_global_project_and_says_its_id(perdure: Command, saving: RestGateway) -> None:
    ran = perdure("add", "We use pnpm")
    assert (ran.status, ran.err) == (0, "")
    assert "0197-1" in ran.out
    assert saving.last.body == {"content": "We use pnpm", "type": "fact", "project": "_global"}


def test_add_takes_the_flags_of_nan_forget(perdure: Command, saving: RestGateway) -> None:
    flags = [
        "-t",
        "decision",
        "-p",
        "shop",
        "--tags",
        "a,b",
        "--problem",
        "P",
        "--solution",
        "S",
        "--files",
        "x.py,y.py",
        "--concepts",
        "c",
    ]
    perdure("add", "text", *flags)
    assert saving.last.body == {
        "content": "text",
        "type": "decision",
        "project": "shop",
        "tags": ["a", "b"],
        "problem": "P",
        "solution": "S",
        "files": ["x.py", "y.py"],
        "concepts": ["c"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "- we use pnpm",
        "-5 degrees is the limit",
        "--no-verify is forbidden here",
        "-p is the project flag",
        "-> see the runbook",
        "---",
        "- one\n- two",
        "—dash",
    ],
)
@pytest.mark.requirement("CLI-01")
def test_text_that_begins_with_a_dash_is_text(perdure: Command, saving: RestGateway, text: str) -> None:
    ran = perdure("add", text, "-p", "shop")
    assert ran.status == 0, ran.err
    assert saving.last.body["content"] == text
    assert saving.last.body["project"] == "shop"


def test_after_two_dashes_everything_is_text(perdure: Command, saving: RestGateway) -> None:
    perdure("add", "-p", "shop", "--", "--json")
    assert saving.last.body["content"] == "--json"


def test_the_value_of_an_option_may_begin_with_a_dash(perdure: Command, saving: RestGateway) -> None:
    perdure("add", "text", "--problem", "- it broke")
    assert saving.last.body["problem"] == "- it broke"


def test_a_word_that_looks_like_an_option_and_is_none_is_refused_with_a_suggestion(
    perdure: Command, saving: RestGateway
) -> None:
    ran = perdure("add", "--porject", "shop", "text")
    assert ran.status == 2
    assert "--project" in ran.err
    assert saving.asked == []


@pytest.mark.requirement("CLI-01")
def test_a_dash_reads_standard_input_with_its_lines(perdure: Command, saving: RestGateway) -> None:
    perdure("add", "-", stdin="- first\n\n- 二番目 ✓\n")
    assert saving.last.body["content"] == "- first\n\n- 二番目 ✓"


def test_add_without_text_says_how_to_give_it(perdure: Command, saving: RestGateway) -> None:
    for arguments in (["add"], ["add", "-"], ["add", "  "]):
        ran = perdure(*arguments)
        assert ran.status == 2
        assert "standard input" in ran.err


@pytest.mark.requirement("CLI-02")
def test_json_is_the_exact_answer_of_the_gateway(perdure: Command, saving: RestGateway) -> None:
    assert json.loads(perdure("add", "text", "--json").out) == SAVED


def test_what_happened_to_the_text_is_said(perdure: Command, saving: RestGateway) -> None:
    saving.routes["POST /memories"] = {
        **SAVED,
        "outcome": "superseded",
        "superseded": ["0196-9"],
        "embedded": False,
        "redacted": ["aws_key"],
    }
    ran = perdure("add", "text")
    assert "supersedes 0196-9" in ran.out
    assert "aws_key" in ran.err
    assert "no vector yet" in ran.err


def test_a_save_whose_answer_is_lost_is_sent_again_under_the_same_key(perdure: Command, saving: RestGateway) -> None:
    keys: list[str] = []

    def lose_the_first(asked: Asked) -> Answered:
        keys.append(asked.headers["idempotency-key"])
        return Answered(hang_up=True) if len(keys) == 1 else Answered(SAVED, 201)

    saving.routes["POST /memories"] = lose_the_first
    assert perdure("add", "text").status == 0
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_checkpoint_sends_what_the_task_taught(perdure: Command, saving: RestGateway) -> None:
    flags = ["--problem", "- p", "--solution", "s", "--concepts", "a,b", "--files", "f", "-p", "shop", "--tags", "t"]
    assert perdure("checkpoint", "--summary", "done", *flags).status == 0
    assert saving.last.body == {
        "task_summary": "done",
        "problem": "- p",
        "solution": "s",
        "concepts": ["a", "b"],
        "files": ["f"],
        "project": "shop",
        "tags": ["t"],
    }


def test_checkpoint_names_what_is_missing(perdure: Command, saving: RestGateway) -> None:
    ran = perdure("checkpoint", "--summary", "done", "--problem", "p", "--solution", "s")
    assert ran.status == 2
    assert "--concepts" in ran.err


def test_update_sends_only_what_is_named_and_empties_with_an_empty_value(perdure: Command, saving: RestGateway) -> None:
    ran = perdure("update", "0197-1", "-c", "- new text", "--key", "", "--tags", "", "--revision", "3")
    assert ran.status == 0, ran.err
    assert saving.last.body == {"content": "- new text", "key": None, "tags": []}
    assert saving.last.headers["if-match"] == '"3"'


def test_update_without_a_change_is_wrong_usage(perdure: Command, saving: RestGateway) -> None:
    assert perdure("update", "0197-1").status == 2


@pytest.mark.parametrize(
    ("status", "code", "exit_status"),
    [
        (400, "invalid_argument", 2),
        (401, "unauthenticated", 4),
        (403, "permission_denied", 4),
        (404, "not_found", 3),
        (409, "conflict", 1),
        (413, "invalid_argument", 2),
        (422, "invalid_argument", 2),
        (429, "limit_exceeded", 1),
        (500, "internal", 1),
        (503, "unavailable", 5),
        (504, "deadline_exceeded", 5),
    ],
)
def test_each_refusal_of_the_gateway_has_its_exit_status_and_sentence(
    perdure: Command, saving: RestGateway, status: int, code: str, exit_status: int
) -> None:
    saving.routes["POST /memories"] = problem(status, "This is why.", code)
    ran = perdure("add", "text")
    assert ran.status == exit_status
    assert ran.out == ""
    assert ran.err.startswith("perdure: This is why.")
    assert len(ran.err.splitlines()) == 1
