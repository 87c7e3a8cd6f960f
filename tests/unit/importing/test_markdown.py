from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from perdure.cli.exporting import write_folder
from perdure.cli.failure import Failure
from perdure.domain.memory import Filter, MemoryType, Provenance, Status, Tier
from perdure.domain.saving import Edit
from perdure.gateway.routes.transfer import line_of
from perdure.importing.draft import Kind
from perdure.store import open_store
from support.clocks import FakeClock
from support.memory_world import MemoryWorld, memory_world
from support.moving_in import NOW, fingerprints, here, kept, read, take_in, write

WRITTEN = datetime(2026, 5, 4, tzinfo=UTC)


def export(world: MemoryWorld, folder: Path, *, force: bool = False) -> None:
    lines = [line_of(memory, ()).rstrip(b"\n") for memory, _ in world.export(world.me, Filter(), every_status=True)]
    write_folder(lines, folder, 0, force=force)


def full(world: MemoryWorld) -> None:
    """Memories with every field, awkward texts, several statuses and links."""
    random.seed(4)
    odd = "--- a: b\n---\n# Not a head\n\n\ttab \x7f \u2028 \U0001f980 'quotes' \"double\" \\ back\n- list: [1, 2]"
    world.say(
        odd,
        type="decision",
        key="k: [1]",
        problem="a\nb: c",
        solution="#d",
        project="A b/c",
        tags=("x, y", "true"),
        concepts=("1",),
        files=("src/a.ts",),
        importance=0.7,
        confidence=0.9,
        provenance=Provenance.HUMAN,
        expires_at=NOW + timedelta(days=9),
    )
    first = world.say("Ports begin at 4000", project="shop").id
    world.update(world.me, first, Edit(content="Ports begin at 5000"))
    world.archive(world.me, world.say("The mule stays", project="shop").id)
    world.say("重要：数据库使用 PostgreSQL。", project="购物")


@pytest.mark.requirement("I4-MOVE-07")
def test_an_export_is_read_back_without_loss(world: MemoryWorld, tmp_path: Path) -> None:
    full(world)
    export(world, tmp_path / "out")
    with memory_world(open_store("memory:"), FakeClock(NOW)) as other:
        found = read("markdown", here(tmp_path), tmp_path / "out")
        assert [item for item in found.items if item not in found.drafts] == []
        assert take_in(other, found.drafts).created == 4
        before, after = kept(world), kept(other)
        assert after == {text: replace(memory, space=None) for text, memory in before.items()}
    # and into the memory it came from it brings nothing
    assert take_in(world, read("markdown", here(tmp_path), tmp_path / "out").drafts).unchanged == 4


def test_the_head_of_an_export_is_yaml(world: MemoryWorld, tmp_path: Path) -> None:
    full(world)
    export(world, tmp_path / "out")
    heads: list[dict[str, Any]] = []
    for path in (tmp_path / "out").glob("*/*.md"):
        head = path.read_bytes().decode().split("\n---\n", 1)[0].removeprefix("---\n")
        heads.append(yaml.safe_load(head))
    assert len(heads) == 4
    assert {head["project"] for head in heads} == {"A b/c", "shop", "购物"}
    (odd,) = [head for head in heads if head["project"] == "A b/c"]
    assert (odd["tags"], odd["problem"], odd["key"]) == (["x, y", "true"], "a\nb: c", "k: [1]")


@pytest.mark.requirement("I4-MOVE-07")
def test_an_edited_file_of_an_export_is_an_edit(world: MemoryWorld, tmp_path: Path) -> None:
    world.say("Ports begin at 4000", project="shop")
    export(world, tmp_path / "out")
    (path,) = (tmp_path / "out").rglob("*.md")
    text = path.read_text(encoding="utf-8").replace("begin at 4000", "begin at 6000").replace("\n", "\r\n")
    write(path, text, at=NOW + timedelta(days=1))
    assert take_in(world, read("markdown", here(tmp_path), tmp_path / "out").drafts).merged == 1
    (memory,) = kept(world).values()
    assert (memory.statement.content, memory.summary) == ("Ports begin at 6000", "Ports begin at 6000")


def test_a_folder_with_something_in_it_is_not_written_into_unasked(world: MemoryWorld, tmp_path: Path) -> None:
    identity = world.say("Ports begin at 4000", project="shop").id
    mine = write(tmp_path / "out" / "shop" / "mine.md", "My own note.\n")
    with pytest.raises(Failure, match="not empty"):
        export(world, tmp_path / "out")
    export(world, tmp_path / "out", force=True)
    world.update(world.me, identity, Edit(content="The range of ports begins at 5000"))
    export(world, tmp_path / "out", force=True)
    assert mine.read_text() == "My own note.\n"
    assert sorted(path.name[:9] for path in (tmp_path / "out" / "shop").iterdir()) == ["mine.md", "the-range"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "out" / "shop").glob("the*"))


def test_memories_that_look_the_same_have_a_file_each_and_keep_it(world: MemoryWorld, tmp_path: Path) -> None:
    ends = [f"0000000{n}-1111-4222-8333-444444444444" for n in range(3)]
    lines = [json.dumps({"id": one, "content": "Same.", "summary": "Same.", "project": "p"}).encode() for one in ends]
    for _ in range(2):
        write_folder(lines, tmp_path / "out", 0, force=True)
        assert {draft.id for draft in read("markdown", here(tmp_path), tmp_path / "out").drafts} == set(ends)
        assert len(list((tmp_path / "out" / "p").iterdir())) == 3


@pytest.mark.requirement("I4-MOVE-01")
def test_anybodys_notes_come_over_with_their_heads_and_times(world: MemoryWorld, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    head = "---\ntitle: Ports\ntype: decision\ntags: [net, ops]\nproject: shop\ncreated: 2025-01-02\n---\n"
    write(folder / "ports.md", head + "They begin at 4000.\n", at=WRITTEN)
    long = (
        "# Guide\n\nIntro.\n\n## Install\n\n"
        + "Do it well. " * 200
        + "\n\n## Use\n\n```\n# not a heading\n```\nUse it.\n"
    )
    write(folder / "sub" / "guide.md", long, at=WRITTEN)
    write(folder / "empty.md", " \n", at=WRITTEN)
    found = read("markdown", here(tmp_path), folder)
    assert take_in(world, found.drafts).created == 4
    memories = kept(world)
    ports = memories["Ports\n\nThey begin at 4000."]
    said = ports.statement
    assert (said.type, said.project, said.tags, said.key) == (
        MemoryType.DECISION,
        "shop",
        ("net", "ops"),
        "note/ports.md",
    )
    assert (ports.created_at, ports.updated_at) == (datetime(2025, 1, 2, tzinfo=UTC), WRITTEN)
    assert (ports.status, ports.tier, ports.provenance) == (Status.ACTIVE, Tier.REGULAR, Provenance.IMPORT)
    use = memories["Guide › Use\n\n```\n# not a heading\n```\nUse it."]
    assert (use.statement.key, use.statement.project) == ("note/sub/guide.md#guide-use", "vault")
    assert found.said(Kind.LEFT_OUT) == ["empty.md: it has no text"]


@pytest.mark.requirement("I4-MOVE-02")
@pytest.mark.requirement("I4-MOVE-04")
def test_moving_in_twice_takes_in_nothing_and_touches_nothing(world: MemoryWorld, tmp_path: Path) -> None:
    write(tmp_path / "vault" / "a.md", "One.\n\n# Two\n\n" + "Three four. " * 300)
    before = fingerprints(tmp_path)
    drafts = read("markdown", here(tmp_path), tmp_path / "vault").drafts
    assert take_in(world, drafts).created == len(drafts) == 2
    report = take_in(world, read("markdown", here(tmp_path), tmp_path / "vault").drafts)
    assert (report.created, report.merged, report.unchanged) == (0, 0, 2)
    assert fingerprints(tmp_path) == before


@pytest.mark.requirement("I4-MOVE-05")
def test_a_broken_export_is_reported(world: MemoryWorld, tmp_path: Path) -> None:
    write(tmp_path / "v" / "a.md", '---\nperdure: 1\nid: "x\n\nno end')
    write(tmp_path / "v" / "b.md", "---\nperdure: 9\n---\n\nFrom the future.\n")
    (tmp_path / "v" / "c.md").write_bytes(b"\xff\xff")
    found = read("markdown", here(tmp_path), tmp_path / "v")
    assert (found.drafts, len(found.said(Kind.LOST))) == ([], 3)
