"""Text and queries as full text sees them."""

from __future__ import annotations

import unicodedata

import pytest

from perdure.domain.memory import Statement
from perdure.domain.recall.candidate import QueryTerm
from perdure.domain.recall.lexical import TERMS_MAX, document_text, query_terms


def terms(query: str) -> list[str]:
    return [term.text + ("*" if term.prefix else "") for term in query_terms(query).terms]


def parts(content: str) -> str:
    return document_text(Statement(content=content)).parts


@pytest.mark.requirement("PAST-13")
def test_every_field_a_memory_is_remembered_by_is_searchable() -> None:
    statement = Statement(
        content="content1",
        project="project1",
        key="key1",
        problem="problem1",
        solution="solution1",
        concepts=("concept1",),
        files=("src/file1.py",),
        tags=("tag1",),
    )
    words = document_text(statement).words
    names = ("content1", "project1", "key1", "problem1", "solution1", "concept1", "src/file1.py", "tag1")
    assert all(name in words for name in names)
    assert "_global" not in document_text(Statement(content="x")).words


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("東京都庁", "東京 京都 都庁 庁"),
        ("駅", "駅"),
        ("東京 と 大阪", "東京 京 と 大阪 阪"),
        ("서울시", "서울 울시 시"),
        ("ㄅㄆ", "ㄅㄆ ㄆ"),
        ("𠮷野家", "𠮷野 野家 家"),
        ("ｶﾞｽ", "ガス ス"),
        ("getUserById", "get User By Id"),
        ("HTTPServer2", "HTTP Server 2"),
        ("snake_case_name", ""),
        ("utf8 in parseJSONFast", "utf 8 parse JSON Fast"),
        ("Word WORD word 1234 naïve Ärger Über", ""),
        ("9cf7f1fe6f122415f8505e3ab2aa6073debf925d", ""),
        ("plain words", ""),
        ("😀 !!", ""),
    ],
)
def test_parts_are_bigrams_and_pieces_of_identifiers(content: str, expected: str) -> None:
    assert parts(content) == expected


def test_words_hold_no_cjk() -> None:
    text = document_text(Statement(content="本番DBはPostgreSQL 16です"))
    assert text.words.split() == ["DB", "PostgreSQL", "16"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("where is the gateway", ["gateway"]),
        ("who are you", ["who", "are", "you"]),
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("src/auth.ts", ["src auth ts", "src", "auth", "ts"]),
        ("ERR_CONN_RESET", ["err conn reset", "err", "conn", "reset"]),
        ("--no-verify", ["no verify", "no", "verify"]),
        ("Caroline's dog", ["caroline", "dog"]),
        ("don't panic", ["panic"]),
        ("東京都庁", ["東京", "京都", "都庁"]),
        ("京", ["京*"]),
        ("会議は東京", ["会議", "議は", "は東", "東京"]),
        ("どこですか", ["どこ", "こで", "です", "すか"]),
        ("東京ですか", ["東京", "京で"]),
        ("ＡＰＩ キー", ["api", "キー"]),
        ("C", ["c"]),
        ("Москва река", ["москва", "река"]),
        ("gateway Gateway GATEWAY", ["gateway"]),
        ("😀 🎉", []),
        ("?! ... --", []),
        ("", []),
        (" \n", []),
        ('"quoted" AND (x OR y*) NEAR/2', ["quoted", "x", "y", "near 2", "near"]),
    ],
)
@pytest.mark.requirement("SEARCH-09")
def test_a_query_is_its_words_its_parts_and_its_bigrams(query: str, expected: list[str]) -> None:
    assert terms(query) == expected


def test_both_normal_forms_of_a_query_are_the_same_query() -> None:
    for query in ("café", "ガス", "각"):
        assert query_terms(unicodedata.normalize("NFD", query)) == query_terms(unicodedata.normalize("NFC", query))


def test_a_long_query_keeps_its_first_terms() -> None:
    query = " ".join(f"word{index}x" for index in range(4000))
    found = query_terms(query).terms
    assert len(found) == TERMS_MAX
    assert found[0] == QueryTerm("word0x")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("αντίγραφο ασφαλείας", "ΑΝΤΙΓΡΑΦΟ ασφαλειας"),
        ("Ёлка ещё стоит", "елка еще стоит"),
        ("يدير مُحَمَّد", "يدير محمد"),
        ("יְרוּשָׁלַיִם", "ירושלים"),
        ("مـــرحبا", "مرحبا"),
    ],
)
@pytest.mark.requirement("FAULT-05")
def test_accents_and_points_that_people_leave_out_are_left_out_on_both_sides(written: str, asked: str) -> None:
    words = document_text(Statement(content=written)).words.lower().split()
    assert terms(asked) == words


def test_a_letter_that_is_not_an_accented_one_stays() -> None:
    assert terms("школой їжак ґанок") == ["школой", "їжак", "ґанок"]
