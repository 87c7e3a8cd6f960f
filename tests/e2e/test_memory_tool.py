"""The memory tool's backend on a running Perdure: the same answers, versions, search, secrets, writers at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from anthropic.lib.tools import ToolError

from perdure.memory_tool import PerdureMemoryTool
from support.memory_tool_world import Reference, outcome, sequence, snapshot
from support.stack import Stack, running

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running(without=("worker", "beat", "broker", "maintenance")) as started:
        yield started


def tool(stack: Stack, project: str, *, purge: bool = False) -> PerdureMemoryTool:
    return PerdureMemoryTool(url=stack.url, project=project, purge=purge)


@pytest.mark.requirement("I4-MEMTOOL-01")
@pytest.mark.parametrize("seed", range(30))
def test_a_random_sequence_answers_as_the_reference_does(stack: Stack, seed: int, tmp_path: Path) -> None:
    reference, ours = Reference(str(tmp_path)), tool(stack, f"sequence-{seed}")
    for step, command in enumerate(sequence(seed, 15)):
        assert outcome(ours, command) == outcome(reference, command), (step, command)
    assert snapshot(ours, tmp_path) == snapshot(reference, tmp_path)


@pytest.mark.requirement("I4-MEMTOOL-03")
def test_a_file_is_found_by_search_and_keeps_its_versions(stack: Stack) -> None:
    ours = tool(stack, "found")
    ours.call({"command": "create", "path": "/memories/team/deploy.md", "file_text": "Deploys go out on Tuesdays.\n"})
    ours.call(
        {"command": "str_replace", "path": "/memories/team/deploy.md", "old_str": "Tuesdays", "new_str": "Thursdays"}
    )
    found = stack.call("GET", "/memories/search?project=found&q=" + quote("when do deploys go out")).json["recall"]
    assert found[0]["memory"]["content"] == "Deploys go out on Thursdays."
    assert found[0]["memory"]["key"] == "/memories/team/deploy.md"
    assert found[0]["memory"]["tier"] == "core"
    history = stack.call("GET", f"/memories/{found[0]['id']}/history").json["revisions"]
    assert [item["before"]["content"] for item in history] == ["Deploys go out on Tuesdays."]


def test_a_deleted_file_is_archived_and_its_path_is_free_again(stack: Stack) -> None:
    ours = tool(stack, "deleted")
    ours.call({"command": "create", "path": "/memories/a.md", "file_text": "first"})
    ours.call({"command": "delete", "path": "/memories/a.md"})
    ours.call({"command": "create", "path": "/memories/a.md", "file_text": "second"})
    listed = stack.call("GET", "/memories?project=deleted&status=archived&status=active").json["memories"]
    assert {(item["status"], item["content"]) for item in listed} == {("archived", "first"), ("active", "second")}
    purging = tool(stack, "deleted", purge=True)
    purging.call({"command": "delete", "path": "/memories/a.md"})
    listed = stack.call("GET", "/memories?project=deleted&status=archived&status=active").json["memories"]
    assert [item["content"] for item in listed] == ["first"]


@pytest.mark.requirement("I4-MEMTOOL-04")
def test_a_secret_is_blanked_and_the_model_is_told(stack: Stack) -> None:
    ours = tool(stack, "secrets")
    secret = "ghp_" + "a1B2" * 9
    said = str(ours.call({"command": "create", "path": "/memories/ci", "file_text": f"The token is {secret}\n"}))
    assert "blanked what looks like a secret" in said
    assert secret not in str(ours.call({"command": "view", "path": "/memories/ci"}))


@pytest.mark.requirement("I4-MEMTOOL-05")
def test_a_file_longer_than_a_memory_is_refused_with_the_limit_and_nothing_changes(stack: Stack) -> None:
    ours = tool(stack, "long")
    ours.call({"command": "create", "path": "/memories/log", "file_text": "x" * 32768})
    for command in (
        {"command": "create", "path": "/memories/other", "file_text": "x" * 32769},
        {"command": "insert", "path": "/memories/log", "insert_line": 0, "insert_text": "y"},
    ):
        with pytest.raises(ToolError, match="keeps files of up to 32768"):
            ours.call(command)
    assert str(ours.call({"command": "view", "path": "/memories"})).splitlines()[2:] == ["32K\t/memories/log"]


@pytest.mark.requirement("I4-MEMTOOL-03")
def test_writers_at_once_lose_no_line(stack: Stack) -> None:
    tool(stack, "busy").call({"command": "create", "path": "/memories/log", "file_text": ""})
    failed: list[Exception] = []

    def write(name: str) -> None:
        ours = tool(stack, "busy")
        for number in range(5):
            while True:
                try:
                    ours.call(
                        {
                            "command": "insert",
                            "path": "/memories/log",
                            "insert_line": 0,
                            "insert_text": f"{name}{number}",
                        }
                    )
                    break
                except ToolError as error:
                    if "being changed by somebody else" not in str(error):
                        failed.append(error)
                        return

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    lines = str(tool(stack, "busy").call({"command": "view", "path": "/memories/log"})).splitlines()[1:-1]
    assert sorted(line.split("\t")[1] for line in lines) == [f"{name}{n}" for name in "abc" for n in range(5)]


def test_a_gateway_that_is_away_is_a_sentence_for_the_model() -> None:
    ours = PerdureMemoryTool(url="http://127.0.0.1:9")
    with pytest.raises(ToolError, match="memory cannot be reached now"):
        ours.call({"command": "view", "path": "/memories"})
