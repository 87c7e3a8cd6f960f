from __future__ import annotations

import json
from typing import Any

import pytest

from integration.cli.conftest import Command
from support.rest_gateway import Asked, RestGateway

PARTS = {
    "relevance": 0.9,
    "bm25": 3.2,
    "lexical_rank": 1,
    "decay_weight": 0.97,
    "frequency_boost": 1.1,
    "confidence_boost": 0.75,
    "importance_boost": 1.0,
    "similarity": 0.83,
}


def memory(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": f"0197-{number}",
        "namespace": "default",
        "project": "shop",
        "type": "fact",
        "content": f"The staging database listens on port 654{number}. It moved.",
        "summary": f"The staging database listens on port 654{number}.",
        "tier": "regular",
        "status": "active",
        "tags": ["db"],
        "concepts": [],
        "files": [],
        "created_at": "2026-11-30T12:00:00Z",
        **more,
    }


def item(number: int = 1, **more: Any) -> dict[str, Any]:
    scores = {"score": 0.9, "adjusted_score": 0.72, "arm": "both", "widened": False, "parts": PARTS}
    return {"id": f"0197-{number}", "project": "shop", "memory": memory(number), **scores, **more}


def answer(*recall: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "stage": 2,
        "recognition": [{**{k: v for k, v in hit.items() if k != "memory"}, **memory()} for hit in recall],
        "recall": list(recall),
        "associations": [],
        "match": bool(recall),
        "dense_ran": True,
        "lexical_ran": True,
        "dense_skipped": "",
        "warnings": [],
        **more,
    }


def test_search_shows_readable_blocks_with_score_and_reason(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = answer(item(1))
    ran = perdure("search", "which", "port")
    assert ran.status == 0
    assert gateway.last.query == [("q", "which port")]
    for shown in ("1. The staging database", "0.72", "It moved.", "0197-1", "meaning 0.83", "words, rank 1", "shop"):
        assert shown in ran.out
    assert "decay" not in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.requirement("SEARCH-02")
def test_explain_shows_every_part_of_the_score(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = answer(item(1))
    out = perdure("search", "port", "--explain").out
    for name in ("relevance 0.900", "decay weight 0.970", "frequency boost 1.100", "confidence boost", "importance"):
        assert name in out


def test_search_sends_every_filter(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = answer(item(1))
    flags = [
        "-p",
        "shop",
        "--strict",
        "-d",
        "3",
        "-n",
        "7",
        "-t",
        "fact",
        "-t",
        "task",
        "--tag",
        "a,b",
        "--file",
        "x",
        "--concept",
        "c",
        "--tier",
        "core",
    ]
    perdure("search", "q", *flags, "--from", "2026-01-01", "--to", "2026-02-01")
    assert sorted(gateway.last.query) == sorted(
        [
            ("q", "q"),
            ("project", "shop"),
            ("strict", "true"),
            ("depth", "3"),
            ("limit", "7"),
            ("type", "fact"),
            ("type", "task"),
            ("tags", "a"),
            ("tags", "b"),
            ("files", "x"),
            ("concepts", "c"),
            ("tier", "core"),
            ("created_from", "2026-01-01"),
            ("created_to", "2026-02-01"),
        ]
    )


def test_a_query_may_begin_with_a_dash(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = answer(item(1))
    assert perdure("search", "- pnpm or npm?").status == 0
    assert gateway.last.query == [("q", "- pnpm or npm?")]


@pytest.mark.requirement("CLI-03")
def test_a_search_that_matches_nothing_says_so_with_its_own_status(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = answer()
    ran = perdure("search", "port")
    assert ran.status == 6
    assert "No memory matches." in ran.out
    assert perdure("search", "port", "--json").status == 6


@pytest.mark.requirement("SEARCH-05")
def test_words_alone_are_never_silent(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/search"] = answer(item(1), dense_ran=False, warnings=["Only words were compared."])
    ran = perdure("search", "port")
    assert "Only words were compared." in ran.err


def test_json_is_the_exact_answer_whatever_it_holds(perdure: Command, gateway: RestGateway) -> None:
    said = answer(item(1, memory=memory(content="日本 \ud800 \x00 é")))
    gateway.routes["GET /memories/search"] = said
    assert json.loads(perdure("search", "port", "--json").out) == said


@pytest.mark.requirement("FAULT-11")
def test_text_that_would_command_the_terminal_is_disarmed(perdure: Command, gateway: RestGateway) -> None:
    evil = memory(summary="\x1b[2Jgone\x07", content="a\x1b]0;title\x07b\u202ec", tags=["\x1b[31mred"])
    gateway.routes["GET /memories/search"] = answer(item(1, memory=evil))
    gateway.routes["GET /memories/0197-1"] = evil
    gateway.routes["GET /memories"] = {"memories": [evil]}
    for arguments in (["search", "x"], ["get", "0197-1"], ["list"]):
        out = perdure(*arguments).out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_get_shows_every_field_that_has_a_value(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/0197-1"] = memory(problem="It moved", key="db-port")
    ran = perdure("get", "0197-1")
    assert ran.status == 0
    assert "db-port" in ran.out
    assert "concepts" not in ran.out
    assert json.loads(perdure("get", "0197-1", "--json").out)["problem"] == "It moved"


@pytest.mark.requirement("CLI-03")
def test_an_unknown_id_is_not_found(perdure: Command, gateway: RestGateway) -> None:
    ran = perdure("get", "../stats?x=1")
    assert ran.status == 3
    assert gateway.last.path == "/memories/..%2Fstats%3Fx%3D1"


def test_list_takes_the_flags_of_nan_forget_and_prints_a_line_each(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories"] = {"memories": [memory(1), memory(2)]}
    ran = perdure("list", "-p", "shop", "-t", "fact", "-s", "archived", "-n", "5")
    assert sorted(gateway.last.query) == sorted(
        [("project", "shop"), ("type", "fact"), ("status", "archived"), ("limit", "5")]
    )
    assert [line.split("\t")[0] for line in ran.out.splitlines()] == ["0197-1", "0197-2"]


def test_list_follows_the_cursor_until_it_has_what_was_asked_for(perdure: Command, gateway: RestGateway) -> None:
    def page(asked: Asked) -> dict[str, Any]:
        query = dict(asked.query)
        start = int(query.get("cursor", "0"))
        end = start + int(query["limit"])
        return {"memories": [memory(number) for number in range(start, end)], "next_cursor": str(end)}

    gateway.routes["GET /memories"] = page
    ran = perdure("list", "-n", "700", "--json")
    found = json.loads(ran.out)
    assert len(found["memories"]) == 700
    assert found["next_cursor"] == "700"


def test_an_empty_list_is_no_error(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories"] = {"memories": []}
    ran = perdure("list")
    assert (ran.status, ran.out) == (0, "")
    assert "No memories" in ran.err


@pytest.mark.parametrize("bad", [["-n", "abc"], ["-n", "0"], ["-t", "banana"], ["-s", "gone"]])
def test_bad_values_are_wrong_usage_before_anything_is_sent(
    perdure: Command, gateway: RestGateway, bad: list[str]
) -> None:
    ran = perdure("list", *bad)
    assert ran.status == 2
    assert gateway.asked == []


@pytest.mark.requirement("STORE-11")
def test_history_shows_what_was_said_before(perdure: Command, gateway: RestGateway) -> None:
    past = {"revision": 1, "at": "2026-11-30T12:00:00Z", "actor": "local", "why": "replaced", "before": memory(3)}
    gateway.routes["GET /memories/0197-1/history"] = {"id": "0197-1", "memory": memory(), "revisions": [past]}
    ran = perdure("history", "0197-1")
    assert "replaced" in ran.out
    assert "6543" in ran.out
