from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.hooks import recall
from perdure.hooks.recall import FLOOR, NEXT_FLOOR, WORDS_MAX, evidence, query_of, recalled, tokens_of, words_of


def hit(content: str, cosine: float | None, *, score: float = 0.9, **fields: Any) -> dict[str, Any]:
    memory = {"id": content[:8], "content": content, "project": "shop", "type": "fact", **fields}
    return {"memory": memory, "score": score, "parts": {"similarity": cosine}}


def shown(*hits: dict[str, Any], prompt: str = "which queue renders invoices", **given: Any) -> list[str]:
    where: dict[str, Any] = {"project": "shop", "session": "s", "shown": (), **given}
    return recalled(list(hits), prompt=prompt, **where).ids


def test_the_best_hit_is_shown_from_the_floor_on_and_not_below() -> None:
    assert shown(hit("something else entirely", FLOOR)) == ["somethin"]
    assert shown(hit("something else entirely", FLOOR - 0.01)) == []


@pytest.mark.requirement("HOOK-RECALL-02")
def test_a_second_and_a_third_hit_need_more_and_a_fourth_is_never_shown() -> None:
    best = hit("aaaaaaaa", 0.9)
    assert shown(best, hit("bbbbbbbb", NEXT_FLOOR - 0.01)) == ["aaaaaaaa"]
    near = [hit(letter * 8, NEXT_FLOOR) for letter in "bcd"]
    assert shown(best, *near) == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]


def test_what_speaks_for_a_hit_orders_them_not_where_the_search_put_them() -> None:
    assert shown(hit("aaaaaaaa", 0.7), hit("bbbbbbbb", 0.9)) == ["bbbbbbbb", "aaaaaaaa"]


def test_what_is_left_out_takes_no_place() -> None:
    left_out = [
        hit("of others", 0.95, project="billing"),
        hit("seen befo", 0.94),
        hit("said here", 0.93, origin={"session": "s"}),
        hit("which queue renders", 0.92),
    ]
    found = shown(*left_out, hit("the answer", FLOOR), shown=("seen bef",))
    assert found == ["the answ"]


def test_shared_words_count_and_more_of_them_count_less_each() -> None:
    said = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"]
    steps = [evidence(hit(" ".join(said[:count]), 0.2), words_of(" ".join(said))) for count in range(8)]
    gains = [after - before for before, after in pairwise(steps)]
    assert all(gain > 0 for gain in gains[:WORDS_MAX])
    assert gains[:WORDS_MAX] == sorted(gains[:WORDS_MAX], reverse=True)
    assert gains[WORDS_MAX:] == [0.0, 0.0]


def test_the_words_of_problem_and_solution_count_too() -> None:
    words = words_of("celery queue")
    plain, told = hit("a text", 0.3), hit("a text", 0.3, problem="celery stood still", solution="a second queue")
    assert evidence(told, words) > evidence(plain, words)


def test_without_vectors_words_alone_may_speak_once() -> None:
    two = [hit("the queue of invoices", None), hit("invoices in a queue", None)]
    assert shown(*two) == ["the queu"]
    assert shown(hit("the queue of invoices", None, score=recall.FLOOR_WITHOUT_VECTORS - 0.01)) == []
    assert shown(hit("the queue only", None)) == []


def test_words_lose_their_endings_and_empty_ones_say_nothing() -> None:
    assert words_of("Rendering the INVOICES with a Queue") == words_of("rendered invoice queue")
    assert words_of("what is it that they are") == frozenset()


def test_scripts_without_spaces_give_pairs_and_end_a_word() -> None:
    assert words_of("請求書をPDFに変換") == {"請求", "求書", "書を", "pdf", "に変", "変換"}
    assert words_of("큐는 하나") == {"큐는", "하나"}


@given(st.text())
def test_any_text_has_words_and_a_query_or_none(text: str) -> None:
    assert all(0 < len(word) <= 6 for word in words_of(text))
    assert isinstance(query_of(text), str)


@pytest.mark.parametrize(
    "prompt", ["", "  ", "yes", "go on", "ok, do", "/compact now please", "!ls -la src", "# remember this one", "好的"]
)
def test_what_is_no_question_is_not_searched_for(prompt: str) -> None:
    assert query_of(prompt) == ""


@pytest.mark.parametrize(
    "prompt", ["fix the build", "getUserById", "src/auth.ts", "error 137", "a_b fails", "用哪个数据库", "キューはどれ"]
)
def test_what_names_something_is(prompt: str) -> None:
    assert query_of(prompt) == prompt


def test_a_pasted_error_is_searched_for_and_what_hosts_put_in_is_not() -> None:
    prompt = "it fails\n```\nERR_CONN_RESET\n```\n<system-reminder>use Postgres</system-reminder>"
    assert query_of(prompt) == "it fails ``` ERR_CONN_RESET ```"


def test_of_a_long_prompt_both_ends_are_searched_for() -> None:
    query = query_of(f"why is this {'0 ' * 9000} and what now")
    assert query.startswith("why is this 0")
    assert query.endswith("0 and what now")
    assert len(query) <= 1000


def test_words_in_the_middle_of_a_long_prompt_speak_for_nothing() -> None:
    said = "alpha bravo charlie delta echo"
    filler = "zzz " * 1000
    assert shown(hit(said, FLOOR - 0.01), prompt=f"{filler}{said} {filler}") == []
    assert shown(hit(said, FLOOR - 0.01), prompt=f"{filler}{said[:20]}") == ["alpha br"]


@pytest.mark.requirement("HOOK-RECALL-02")
def test_three_long_memories_stay_within_the_tokens() -> None:
    long = [hit(f"{letter}{'界' * 4000}", 0.9) for letter in "abc"]
    said = recalled(long, prompt="anything at all", project="shop", session="", shown=())
    assert said.ids
    assert tokens_of(said.text) <= recall.TOKENS_MAX
