from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perdure.memory_tool import PerdureMemoryTool
from support.memory_tool_world import DocumentsInMemory, Reference, outcome, sequence, snapshot

SEEDS = 1000
COMMANDS = 18
SHARES = 10


@pytest.mark.requirement("I4-MEMTOOL-01")
@pytest.mark.parametrize("share", range(SHARES))
def test_a_thousand_random_sequences_answer_as_the_reference_does(share: int, tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    for seed in range(share, SEEDS, SHARES):
        folder = tmp_path / str(seed)
        reference, ours = Reference(str(folder)), PerdureMemoryTool(documents=DocumentsInMemory())
        for step, command in enumerate(sequence(seed, COMMANDS)):
            expected = outcome(reference, command)
            assert outcome(ours, command) == expected, (seed, step, command)
            told[f"{command['command']} {expected[0]}"] += 1
        assert snapshot(ours, folder) == snapshot(reference, folder), seed
    # the sequences are worth something: every command succeeds and fails many times
    assert len(told) == 12
    assert min(told.values()) >= 20, told
