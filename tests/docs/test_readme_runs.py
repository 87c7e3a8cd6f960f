"""The README's first recall and the tutorials, run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.stack import ROOT, Stack, running

PAGES = ("README.md", "docs/tutorial/first-recall.md", "docs/tutorial/teach-it-once.md")
DEFAULT_URL = "http://127.0.0.1:3456"

# ids, times and whatever depends on the day or the machine
MASKS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?"), "TIME"),
    (re.compile(r"memory-[0-9a-f]{10}"), "FENCE"),
    (re.compile(r"\b\d+\.\d+\b"), "N"),
)


ID = MASKS[0][0]


def masked(text: str) -> str:
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def transcript(page: str) -> list[tuple[str, str]]:
    """Commands of the ``console`` fences with the output that stands below each."""
    steps: list[tuple[str, str]] = []
    for fence in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL):
        for line in fence.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], ""))
            else:
                command, output = steps[-1]
                steps[-1] = (command, f"{output}{line}\n")
    return steps


def files(page: str) -> list[tuple[str, str]]:
    """Files that the reader is told to save: ``json`` fences with a name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```json (\S+)\n(.*?)```", text, re.DOTALL)


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stack() -> Iterator[Stack]:
    """With the embedded model, as a new user has it, and patience, as a test may not hang on the machine's haste."""
    with running(
        PERDURE_EMBEDDING_PROVIDER="auto", PERDURE_SAVE_VECTOR_WAIT_MS="20000", PERDURE_QUERY_VECTOR_WAIT_MS="20000"
    ) as started:
        yield started


@pytest.fixture
def shell(tmp_path: Path, stack: Stack) -> dict[str, str]:
    """An environment in which ``perdure`` and ``perdure-bridge`` are those of this repository."""
    import sys

    for name, module in (("perdure", "perdure.cli.main"), ("perdure-bridge", "perdure.bridge.main")):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        program.chmod(0o755)
    return {**stack.environment(), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.e2e
@pytest.mark.requirement("SKEL-06")
def test_the_first_recall_of_the_readme_gives_its_output(
    page: str, stack: Stack, shell: dict[str, str], tmp_path: Path
) -> None:
    steps = transcript(page)
    assert len(steps) >= 5
    for name, text in files(page):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ids: dict[str, str] = {}
    for command, expected in steps:
        # the reader puts in the ids that came out before
        command = ID.sub(lambda found: ids.get(found[0], found[0]), command)
        if command.startswith("curl ") and shutil.which("curl") is None:
            pytest.skip("there is no curl on this machine")
        ran = subprocess.run(
            ["/bin/sh", "-c", command.replace(DEFAULT_URL, stack.url)],
            env=shell,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert masked(ran.stdout + ran.stderr) == masked(expected.replace(DEFAULT_URL, stack.url)), command
        ids.update(zip(ID.findall(expected), ID.findall(ran.stdout + ran.stderr), strict=False))
