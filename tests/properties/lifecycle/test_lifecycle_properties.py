"""What holds for every text, every set of vectors and every file."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.compaction.stub import is_stub, points_at, stub_of
from perdure.domain.consolidation import grouping, merging
from perdure.domain.consolidation.sentences import pieces, said
from perdure.domain.memory_md import BEGIN, END, block, merge
from perdure.domain.retention import days_until
from perdure.domain.vectors import unit
from support.aged import aged

WORDS = st.sampled_from(
    [
        "Postgres",
        "16",
        "v1.2.3",
        "not",
        "never",
        "deploys",
        "on",
        "Fridays",
        "src/app.py",
        "the",
        "we",
        "use",
        "https://a.example/x",
        "e.g.",
        "db1",
        "缓存",
        "在",
        "東京。",
        "ist",
        "nicht",
        "3.",
        "Mai",
        "Redis.",
        "runs!",
        "A",
        "B",
        "```",
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=30).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", ". ", "\n", "\n- ", "。"]), min_size=len(words), max_size=len(words)
    ).map(lambda gaps: "".join(word + gap for word, gap in zip(words, gaps, strict=True)))
)


@given(st.one_of(TEXTS, st.text(max_size=200)))
def test_pieces_put_together_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@given(st.lists(TEXTS, min_size=2, max_size=6))
def test_no_distinct_sentence_is_lost(texts: list[str]) -> None:
    members = [aged(text.strip(), idle_days=120 - n) for n, text in enumerate(texts) if text.strip()]
    if not members:
        return
    content = merging.merged(members).content
    kept = {said(piece) for piece in pieces(content)}
    for memory in members:
        for piece in pieces(memory.statement.content):
            key = said(piece)
            # a piece that opens a block has the block's day before it; a code block without end swallows what follows,
            # also the end of a sentence that was said twice
            assert not key or key in kept or piece.strip().rstrip(".!。") in content


@given(st.integers(1, 60), st.integers(2, 6), st.floats(0.2, 0.95), st.integers(0, 2**31))
@settings(max_examples=60)
def test_clusters_part_the_rows_and_their_members_are_alike_on_average(
    count: int, dimension: int, threshold: float, seed: int
) -> None:
    vectors = unit(np.random.default_rng(seed).standard_normal((count, dimension)))
    found = grouping.clusters(vectors, threshold)
    assert sorted(row for cluster in found for row in cluster) == list(range(count))
    for cluster in found:
        if len(cluster) == 2:
            assert vectors[cluster[0]] @ vectors[cluster[1]] > threshold
    # no two clusters that average linkage would still join
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            assert (vectors[list(one)] @ vectors[list(other)].T).mean() <= threshold + 1e-4


@given(st.integers(1, 80), st.integers(1, 30), st.integers(0, 2**31))
def test_neighbourhoods_part_the_rows_evenly(count: int, size: int, seed: int) -> None:
    vectors = unit(np.random.default_rng(seed).standard_normal((count, 4)))
    parts = grouping.neighbourhoods(vectors, range(count), size)
    assert sorted(row for part in parts for row in part) == list(range(count))
    sizes = [len(part) for part in parts]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1


FILE = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=80)


@given(FILE, FILE, st.sampled_from(["\n", "\r\n"]))
def test_what_is_theirs_in_memory_md_stays_byte_for_byte(before: str, after: str, ends: str) -> None:
    text = before + block("p", []).replace("\n", ends) + after
    merged = merge(text, block("p", [aged("New.")]))
    assert merged.startswith(before + BEGIN)
    assert merged.endswith(END + after)
    assert merge(merged, block("p", [aged("Later.")])).endswith(END + after)


@given(FILE)
def test_a_file_without_markers_is_only_added_to(text: str) -> None:
    assert merge(text, block("p", [])).startswith(text)


@given(st.text(max_size=400), st.integers(0, 99))
def test_a_stub_is_known_as_one_and_short(content: str, version: int) -> None:
    stub = stub_of(content, version)
    assert is_stub(stub)
    assert len(stub) <= 140 + len("[absorbed→Perdure v99] ")


@given(TEXTS.map(str.strip).filter(bool))
def test_a_stub_points_at_its_text(content: str) -> None:
    assert points_at(stub_of(content, 1), content)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0, 0.99), st.floats(0, 0.99))
def test_more_confidence_never_ages_sooner(weight: float, other: float, one: float, two: float) -> None:
    low, high = sorted((one, two))
    early, late = sorted((weight, other), reverse=True)
    assert (days_until(weight, low) or 0) <= (days_until(weight, high) or 0) + 1e-9
    assert (days_until(early, low) or 0) <= (days_until(late, low) or 0) + 1e-9
