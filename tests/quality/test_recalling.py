"""The hook's recall on labelled prompts reaches what issue 4 asks; prints its table (``pytest -s``).

The prompts of part ``held`` were left alone while ``hooks/recall.py`` got its constants.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from quality.datasets import load_coding_memories, load_mean_corpus, load_prompts
from quality.recalling import PRECISION_MIN, SILENCE_MIN, TOKENS_MAX, measured, table
from quality.searcher import VectorCache

VECTORS = Path(__file__).parents[2] / "quality-results" / "vectors"
RECALL_MIN = 0.6
"""Not asked for; what was reached (0.69) less a margin, so that silence cannot pass for precision."""


@pytest.mark.e2e
@pytest.mark.requirement("HOOK-RECALL-03")
def test_recall_is_right_where_it_speaks_and_silent_elsewhere() -> None:
    with VectorCache(VECTORS) as cache:
        figures = measured(cache)
    print(f"\n{table(figures)}")
    for part in ("held", "all"):
        assert figures[part].precision >= PRECISION_MIN, part
        assert figures[part].silence >= SILENCE_MIN, part
        assert figures[part].recall >= RECALL_MIN, part
    assert max(each.tokens for each in figures.values()) <= TOKENS_MAX
    assert figures["words alone"].precision >= PRECISION_MIN
    assert figures["words alone"].silence >= SILENCE_MIN
    assert figures["other sets"].precision >= PRECISION_MIN


def test_the_set_is_as_large_and_as_balanced_as_it_must_be() -> None:
    memories, prompts = load_coding_memories(), load_prompts()
    assert len(memories) == 500
    assert len({memory.content for memory in memories}) == 500
    assert len({memory.id for memory in memories}) == 500
    assert {memory.type for memory in memories} == {"fact", "decision", "preference", "task", "context"}
    assert len(prompts) >= 150
    assert len({prompt.text for prompt in prompts}) == len(prompts)
    for part in ("dev", "held"):
        quiet = Counter(not prompt.expects for prompt in prompts if prompt.part == part)
        assert 0.4 <= quiet[True] / quiet.total() <= 0.6, part
    assert {prompt.language for prompt in prompts} == {"en", "de", "zh", "ja", "es"}


def test_every_label_names_a_memory_that_the_hook_may_show_there() -> None:
    projects = {memory.id: memory.project for memory in load_coding_memories()}
    for prompt in load_prompts():
        assert {projects[name] for name in prompt.expects} <= {prompt.project, "_global"}, prompt.text


def test_the_mean_corpus_shares_no_text_and_no_project_with_the_store() -> None:
    memories = load_coding_memories()
    corpus = {record.memory.content for record in load_mean_corpus()}
    assert not corpus & {memory.content for memory in memories}
    assert not {record.memory.project for record in load_mean_corpus()} & {
        memory.project for memory in memories if memory.project != "_global"
    }
