"""Text of every kind through HTTP: a right answer or a clear error (issue 2, "Bad input and faults")."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from support.stack import Answer, Stack, running

pytestmark = pytest.mark.e2e

KIB_32 = 32 * 1024

SENTENCES = {
    "zh": "数据库的端口是五四三二，备份在每个星期天凌晨。",
    "zh deploy": "部署脚本由小王维护，先在测试环境运行。",
    "ja": "本番サーバーのログは毎晩圧縮される。",
    "ja name": "猫の写真は倉庫に保存する。",
    "ko": "결제 서비스는 매주 화요일에 배포한다.",
    "ko name": "봄 축제 예산은 서울 지사가 관리한다.",
    "ru": "Резервные копии хранятся в хранилище «Заря» тридцать дней.",
    "ru yo": "Ёлка стоит во дворе ещё с декабря.",
    "uk": "Їжак спить у ґанку біля школи.",
    "fr": "Le café déjà payé est réglé côté serveur à Nîmes.",
    "de": "Die Größe der Straße steht im Übersichtsplan.",
    "vi": "Máy chủ đặt tại Hà Nội sẽ khởi động lại lúc nửa đêm.",
    "tr": "İstanbul ofisindeki ışıklar otomatik kapanır.",
    "ar": "ينتهي عقد الخادم في نهاية شهر رمضان",
    "ar points": "يدير مُحَمَّد حساب البريد",
    "he": "הגיבוי נשמר בירושלים במשך שנה",
    "hi": "दिल्ली का सर्वर हर रविवार को बंद होता है",
    "th": "เซิร์ฟเวอร์อยู่ที่เชียงใหม่",
    "el": "Το αντίγραφο ασφαλείας βρίσκεται στη Θεσσαλονίκη.",
    "emoji": "Release mascot is the 👩🏽‍🚀 astronaut with 🇺🇦 flag and 🧠 badge",
}

# one or two characters where the language writes whole words with them
QUERIES = [
    ("zh", "库"), ("zh", "端口"), ("zh", "备份"), ("zh", "星期天"), ("zh deploy", "王"), ("zh deploy", "部署"),
    ("zh deploy", "测试"),
    ("ja", "圧縮"), ("ja", "ログ"), ("ja", "サーバー"), ("ja", "晩"),
    ("ja name", "猫"), ("ja name", "写真"), ("ja name", "倉庫"),
    ("ko", "결제"), ("ko", "배포"), ("ko", "화요일"), ("ko name", "봄"), ("ko name", "축제"), ("ko name", "서울"),
    ("ru", "резервные копии"), ("ru", "ЗАРЯ"), ("ru", "хранятся"), ("ru yo", "елка"), ("ru yo", "ЁЛКА"),
    ("uk", "їжак"), ("uk", "ґанку"),
    ("fr", "cafe"), ("fr", "CAFÉ"), ("fr", "deja regle"), ("fr", "nimes"),
    ("de", "strasse größe"), ("de", "übersichtsplan"), ("de", "ubersichtsplan"),
    ("vi", "hà nội"), ("vi", "ha noi"), ("vi", "khởi động"), ("tr", "istanbul"), ("tr", "ofisindeki"),
    ("ar", "رمضان"), ("ar", "الخادم"), ("he", "בירושלים"), ("hi", "दिल्ली"), ("hi", "सर्वर"), ("th", "เชียงใหม่"),
    ("el", "θεσσαλονίκη"), ("el", "ΑΝΤΙΓΡΑΦΟ"), ("el", "θεσσαλονικη"), ("ar points", "محمد"),
    ("emoji", "astronaut flag badge"),
]  # fmt: skip


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as started:
        yield started


def save(stack: Stack, content: str, **fields: Any) -> Answer:
    return stack.call("POST", "/memories", {"content": content, **fields})


def found(stack: Stack, query: str, project: str) -> list[str]:
    answer = stack.call("GET", f"/memories/search?q={quote(query)}&project={project}&strict=true&limit=10")
    assert answer.status == 200, (query, answer.body)
    return [item["id"] for item in answer.json["recall"]]


def raw(stack: Stack, body: str) -> Answer:
    """A body as it is, so that escapes reach the server as they were written."""
    return stack.call("POST", "/memories", body, headers={"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def languages(stack: Stack) -> dict[str, str]:
    ids = {}
    for name, text in SENTENCES.items():
        answer = save(stack, text, project="languages")
        assert (answer.status, answer.json["outcome"]) == (201, "created"), name
        ids[name] = answer.json["id"]
    return ids


@pytest.mark.requirement("FAULT-05", "SEARCH-09")
def test_words_of_every_script_find_their_sentence_first(stack: Stack, languages: dict[str, str]) -> None:
    missed = {}
    for name, query in QUERIES:
        hits = found(stack, query, "languages")
        if hits[:1] != [languages[name]]:
            missed[query] = [other for hit in hits for other, id in languages.items() if id == hit]
    assert missed == {}


@pytest.mark.requirement("FAULT-05")
def test_text_comes_back_as_it_was_written(stack: Stack, languages: dict[str, str]) -> None:
    for name, memory in languages.items():
        read = stack.call("GET", f"/memories/{memory}?peek=true")
        assert read.json["content"] == unicodedata.normalize("NFC", SENTENCES[name]), name
        assert SENTENCES[name][:10].encode() in read.body or name in ("vi",), "the answer is UTF-8, not escapes"


@pytest.mark.requirement("FAULT-05")
def test_emoji_alone_are_a_query_with_an_answer(stack: Stack, languages: dict[str, str]) -> None:
    for query in ("🧠", "👩🏽‍🚀", "🇺🇦", "?!", "…"):
        answer = stack.call("GET", f"/memories/search?q={quote(query)}&project=languages&strict=true")
        assert answer.status == 200, query


@pytest.mark.requirement("FAULT-07")
def test_nfc_and_nfd_are_one_text_one_key_and_one_query(stack: Stack) -> None:
    composed, decomposed = (
        unicodedata.normalize(form, "Müller kündigt für Zoë den Vertrag für Ångström") for form in ("NFC", "NFD")
    )
    assert composed != decomposed
    first = save(stack, composed, project="forms").json
    again = save(stack, decomposed, project="forms").json
    assert (again["outcome"], again["id"]) == ("unchanged", first["id"])
    for query in ("Ångström", unicodedata.normalize("NFD", "Ångström"), "angstrom", "ANGSTRÖM"):
        assert found(stack, query, "forms") == [first["id"]], query
    one = save(stack, "one", project="forms", key=unicodedata.normalize("NFC", "clé"), tags=["é"]).json
    two = save(
        stack, "two", project="forms", key=unicodedata.normalize("NFD", "clé"), tags=[unicodedata.normalize("NFD", "é")]
    ).json
    assert (two["outcome"], two["id"]) == ("replaced", one["id"])
    tagged = stack.call("GET", f"/memories?project=forms&tags={quote(unicodedata.normalize('NFD', 'é'))}").json
    assert [memory["id"] for memory in tagged["memories"]] == [one["id"]]


@pytest.mark.requirement("FAULT-06")
def test_a_nul_cuts_nothing_off(stack: Stack) -> None:
    answer = raw(stack, '{"content": "before\\u0000 the nul and afterwards", "project": "nul", "tags": ["a\\u0000b"]}')
    assert answer.status == 201, answer.body
    read = stack.call("GET", f"/memories/{answer.json['id']}").json
    assert "\0" not in json.dumps(read, ensure_ascii=False)
    assert "before" in read["content"]
    assert read["content"].endswith("the nul and afterwards")
    assert found(stack, "afterwards", "nul") == [answer.json["id"]]
    assert found(stack, "afterwards\0", "nul") == [answer.json["id"]]
    only = raw(stack, '{"content": "\\u0000\\u0000"}')
    assert (only.status, only.json["reason"]) == (422, "text_unusable")
    assert stack.call("GET", "/memories/search?q=%00").status in (200, 422)


@pytest.mark.requirement("FAULT-06")
def test_a_lone_surrogate_is_mended_or_refused_and_never_breaks_an_answer(stack: Stack) -> None:
    for number, half in enumerate(("\\ud83d", "\\ude00", "\\ude00\\ud83d", "a\\ud83db")):
        answer = raw(stack, f'{{"content": "half {number} {half} of a pair", "project": "halves"}}')
        assert answer.status in (201, 400, 422), (half, answer.body)
        if answer.status != 201:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json["reason"] in ("body_malformed", "text_unusable")
    pair = raw(stack, '{"content": "whole \\ud83d\\ude00 pair", "project": "pairs"}')
    assert stack.call("GET", f"/memories/{pair.json['id']}").json["content"] == "whole 😀 pair"
    for path in ("/memories?project=halves", "/memories/export?project=halves", "/memories/search?q=half+of+a+pair"):
        answer = stack.call("GET", path)
        assert answer.status == 200
        answer.body.decode("utf-8", "strict")
        assert "\\ud83d" not in answer.body.decode().lower()
    for query in ("%ED%A0%BD", "%FF%FE", "half%ED%B8%80"):
        assert stack.call("GET", f"/memories/search?q={query}").status in (200, 400, 422), query


@pytest.mark.requirement("FAULT-08")
@pytest.mark.parametrize("unit", ["a word ", "é", "猫", "😀"])
def test_content_of_32_kib_is_kept_whole_and_one_byte_more_is_refused(stack: Stack, unit: str) -> None:
    size = len(unit.encode())
    text = "x" * (KIB_32 % size) + unit * (KIB_32 // size)
    text = text[:-1] + "z" if unit.endswith(" ") else text
    assert len(text.encode()) == KIB_32
    kept = save(stack, text, project="large")
    assert kept.status == 201, kept.body
    assert stack.call("GET", f"/memories/{kept.json['id']}").json["content"] == text
    refused = save(stack, text + "x", project="large")
    assert (refused.status, refused.json["reason"], refused.json["field"]) == (422, "too_large", "content")
    assert refused.json["limit"] == KIB_32


@pytest.mark.requirement("FAULT-11")
def test_text_that_turns_the_direction_or_commands_a_terminal_changes_no_other_text(stack: Stack) -> None:
    evil = "safe \u202egnp.exe\u202c \x1b[31mred\x1b[0m \x9b2J \u2066iso\u2069 end"
    answer = save(stack, evil, project="evil")
    assert answer.status == 201
    shown = stack.perdure("get", answer.json["id"]).stdout
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    listed = stack.perdure("list", "-p", "evil").stdout
    assert "\x1b" not in listed
    assert found(stack, "safe end", "evil") == [answer.json["id"]]


@pytest.mark.requirement("FAULT-05")
def test_summaries_and_cut_answers_end_between_characters(stack: Stack) -> None:
    family = "👨‍👩‍👧‍👦"
    kept = save(stack, f"Families {family * 60} and more", project="graphemes").json["id"]
    summary = stack.call("GET", f"/memories/{kept}").json["summary"]
    assert len(summary) <= 80
    assert "�" not in summary
    assert summary.replace("Families", "").rstrip("…").replace(family, "").strip() == ""
    answer = stack.call("GET", "/memories/search?q=families&project=graphemes&strict=true&max_tokens=200").json
    assert answer["recall"], answer
    text = answer["recall"][0]["memory"]["content"]
    assert not text.rstrip("…").endswith("\u200d")
