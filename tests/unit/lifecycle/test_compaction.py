"""Stubs, probes, what is compacted and what a restored text belongs to."""

from __future__ import annotations

import pytest

from perdure.domain.compaction.plan import Skip, content_lost, match, plan
from perdure.domain.compaction.probe import BLANK, passes, probe_of
from perdure.domain.compaction.stub import is_stub, pointer, points_at, stub_of
from support.aged import aged

LONG = "Deploys to region eu-west-7 go through the blue pipeline.\n" + "Details follow. " * 40


def test_a_stub_quotes_the_first_line_that_is_not_blank() -> None:
    assert stub_of("\n  \n  First line.  \nsecond", 3) == "[absorbed→Perdure v3] First line."


def test_a_long_first_line_is_cut_to_140_characters() -> None:
    stub = stub_of("word " * 100, 1)
    assert stub.endswith("word…")
    assert len(stub.removeprefix("[absorbed→Perdure v1] ")) <= 140


@pytest.mark.parametrize(
    "text", ["[absorbed→Perdure v3] x", "  [absorbed→Evermind v7+exp1] x", "[absorbed→Evermind v0]"]
)
def test_own_and_predecessors_stubs_are_known(text: str) -> None:
    assert is_stub(text)


def test_a_text_about_stubs_is_none() -> None:
    assert not is_stub("We write [absorbed→Perdure v3] before a stub.")
    assert pointer("plain") == ""


def test_a_cut_pointer_still_points_at_its_text() -> None:
    assert points_at(stub_of(LONG, 1, chars=20), LONG)
    assert not points_at(stub_of(LONG, 1), "Something else.")


def test_the_probe_blanks_what_identifies_the_memory() -> None:
    probe = probe_of(LONG, None, lambda token: 0.0)
    assert probe is not None
    assert probe.token == "eu-west-7"
    assert "eu-west-7" not in probe.question
    assert BLANK in probe.question
    assert passes(probe, LONG)
    assert not passes(probe, "Deploys go elsewhere.")
    assert not passes(probe, None)


def test_a_token_of_the_key_gives_itself_away_and_is_not_asked_for() -> None:
    probe = probe_of("Port is 8443 behind haproxy.", "port-8443", lambda token: 0.0)
    assert probe is not None
    assert probe.token == "haproxy"


def test_a_text_of_common_repeated_words_has_no_probe() -> None:
    assert probe_of("go go go on on it it", None, lambda token: 0.0) is None


def test_every_skip_says_why() -> None:
    long, short = aged(LONG), aged("Short.")
    stubbed, lost = aged(LONG, stub="[absorbed→Perdure v1] D"), aged("[absorbed→Evermind v2] Deploys")
    found = {"long": long, "short": short, "stubbed": stubbed, "lost": lost, "again": long}
    answer = plan(["long", "short", "stubbed", "lost", "again", "missing", "long"], found)
    assert [write.memory.id for write in answer.writes] == [long.id]
    assert dict(answer.skipped) == {
        "short": Skip.NOT_SMALLER,
        "stubbed": Skip.ALREADY_COMPACTED,
        "lost": Skip.ALREADY_COMPACTED,
        "again": Skip.ALREADY_COMPACTED,
        "missing": Skip.NOT_FOUND,
    }
    assert answer.writes[0].bytes_saved == len(LONG.encode()) - len(answer.writes[0].stub.encode())


def test_texts_come_home_by_key_by_id_and_by_their_first_line() -> None:
    keyed = aged("[absorbed→Evermind v2] something", key="deploy")
    named = aged("[absorbed→Evermind v2] else")
    quoted = aged("[absorbed→Evermind v2] The cache is Redis")
    assert all(map(content_lost, (keyed, named, quoted)))
    restored, unmatched = match(
        [("deploy", "A."), (f"mem:{named.id}", "B."), ("", "The cache is Redis 7.\nMore."), ("x", "Nobody's.")],
        [keyed, named, quoted],
    )
    assert [(item.memory.id, item.content) for item in restored] == [
        (keyed.id, "A."),
        (named.id, "B."),
        (quoted.id, "The cache is Redis 7.\nMore."),
    ]
    assert unmatched == ("x",)


def test_a_first_line_that_two_stubs_quote_belongs_to_neither() -> None:
    twins = [aged("[absorbed→Evermind v2] The cache"), aged("[absorbed→Evermind v2] The cache is")]
    restored, unmatched = match([("", "The cache is Redis.")], twins)
    assert restored == ()
    assert unmatched == ("",)
