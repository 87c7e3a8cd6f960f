from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.bridge.compress import stub_of
from perdure.domain.memory import MemoryType
from perdure.hooks.memory_files import memories_of
from perdure.importing.draft import Kind
from perdure.installer.rules import BEGIN, END
from support.memory_world import MemoryWorld, draft
from support.moving_in import fingerprints, here, kept, read, take_in, write

WRITTEN = datetime(2026, 6, 7, 8, tzinfo=UTC)
TOPIC = """---
name: package manager
description: which package manager is used
type: feedback
---

- pnpm, never npm: the lock file is pnpm's
"""
RULES = """# Shop

## Commands

Run `make test` before each commit.

## Style

Always use two spaces for indentation.

<!-- perdure:begin (written by perdure; edits inside are lost) -->
## Memory: shop
- [fact] This came out of Perdure (perdure:0190)
<!-- perdure:end -->
"""


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "code" / "my-shop"
    write(folder / "pyproject.toml", "")
    write(folder / "CLAUDE.md", RULES, at=WRITTEN)
    dashed = str(folder).replace("/", "-").replace("_", "-").replace(".", "-")
    memory = home / ".claude" / "projects" / dashed / "memory"
    write(memory / "package-manager.md", TOPIC, at=WRITTEN)
    index = "# Memory\n\n- [Packages](package-manager.md) — pnpm\n- Staging is at port 8081\n"
    write(memory / "MEMORY.md", index, at=WRITTEN)
    return folder


@pytest.mark.requirement("I4-MOVE-01")
def test_topic_files_what_an_index_says_itself_and_rules_come_over(
    world: MemoryWorld, home: Path, project: Path
) -> None:
    write(home / ".claude" / "CLAUDE.md", "Answer in British English.\n", at=WRITTEN)
    found = read("claude", here(home, project))
    assert take_in(world, found.drafts).failed == 0
    memories = kept(world)
    topic = next(m for text, m in memories.items() if "pnpm, never npm" in text)
    assert (topic.statement.type, topic.statement.project) == (MemoryType.PREFERENCE, "my-shop")
    assert (topic.statement.key, topic.created_at) == ("memory/package-manager.md", WRITTEN)
    index = next(m for text, m in memories.items() if "port 8081" in text)
    assert "package-manager.md" not in index.statement.content
    assert memories["Answer in British English."].statement.project == "_global"
    style = next(m for text, m in memories.items() if "two spaces" in text)
    assert (style.statement.type, style.statement.content.splitlines()[0]) == (MemoryType.PREFERENCE, "Shop › Style")
    assert not any("came out of Perdure" in text for text in memories)


@pytest.mark.requirement("I4-MOVE-02")
def test_what_a_hook_stored_already_is_the_same_memory(world: MemoryWorld, home: Path, project: Path) -> None:
    (path,) = home.rglob("package-manager.md")
    (saved,) = memories_of(str(path), path.name, TOPIC, project="my-shop", host="claude", session="s")
    del saved["origin"]
    lists = {name: tuple(saved[name]) for name in ("concepts", "files", "tags")}
    world.save(world.me, draft(**{**saved, **lists}))
    drafts = read("claude", here(home, project)).drafts
    first = take_in(world, drafts)
    assert first.unchanged == 1
    again = take_in(world, read("claude", here(home, project)).drafts)
    assert (again.created, again.merged, again.unchanged) == (0, 0, len(drafts))


def test_an_edited_topic_file_is_an_edit(world: MemoryWorld, home: Path, project: Path) -> None:
    take_in(world, read("claude", here(home, project)).drafts)
    (path,) = home.rglob("package-manager.md")
    write(path, TOPIC.replace("never npm", "never yarn"), at=datetime(2027, 2, 1, tzinfo=UTC))
    assert take_in(world, read("claude", here(home, project)).drafts).merged == 1
    assert any("never yarn" in text for text in kept(world))
    assert not any("never npm" in text for text in kept(world))


def test_the_project_of_a_folder_that_is_gone_is_taken_from_its_transcripts(home: Path) -> None:
    folder = home / ".claude" / "projects" / "-gone-my-old-shop"
    write(folder / "memory" / "a.md", "Something to keep.")
    write(folder / "s.jsonl", json.dumps({"type": "user", "cwd": "/gone/my-old-shop"}) + "\n")
    found = read("claude", here(home))
    assert [draft.project for draft in found.drafts] == ["my-old-shop"]
    assert any("my-old-shop" in said for said in found.said(Kind.NOTE))


@pytest.mark.requirement("I4-MOVE-05")
def test_stubs_are_left_out_and_unreadable_files_reported(home: Path) -> None:
    memory = home / ".claude" / "projects" / "-x" / "memory"
    write(memory / "stub.md", "---\ntype: user\npersisted: true\n---\nSee the memory.\n")
    write(memory / "empty.md", "\n")
    (memory / "bytes.md").write_bytes(b"\xff\xfe\x00bad")
    write(memory / "dashes.md", "- a list\n---\n- and a rule\n")
    found = read("claude", here(home))
    assert [draft.content for draft in found.drafts] == ["- a list\n---\n- and a rule"]
    assert len(found.said(Kind.LEFT_OUT)) == 2
    assert len(found.said(Kind.LOST)) == 1


def test_a_file_that_compress_made_a_stub_of_does_not_replace_its_own_memory(
    world: MemoryWorld, home: Path, project: Path
) -> None:
    take_in(world, read("claude", here(home, project)).drafts)
    (path,) = home.rglob("package-manager.md")
    held = next(m for text, m in kept(world).items() if "pnpm, never npm" in text)
    front = TOPIC[: TOPIC.index("- pnpm")]
    write(path, front + stub_of(TOPIC, held.revision, [held.id]), at=datetime(2027, 2, 1, tzinfo=UTC))
    found = read("claude", here(home, project))
    assert any("a stub" in said for said in found.said(Kind.LEFT_OUT))
    assert take_in(world, found.drafts).merged == 0
    assert held.statement.content in kept(world)


def test_a_block_of_rules_that_perdure_wrote_is_no_rule_of_the_persons(home: Path) -> None:
    text = f"Mine: always use tabs.\n\n{BEGIN}\n## Long-term memory\n\nHow to use it.\n{END}\n"
    (rule,) = read("claude", here(home), write(home / "shop" / "CLAUDE.md", text)).drafts
    assert rule.content == "Mine: always use tabs."


@pytest.mark.requirement("I4-MOVE-04")
def test_the_files_are_only_read(home: Path, project: Path) -> None:
    before = fingerprints(home)
    read("claude", here(home, project))
    assert fingerprints(home) == before


def test_lines_that_nan_forget_keeps_in_an_index_are_not_memories_of_claudes(home: Path) -> None:
    memory = home / ".claude" / "projects" / "-x" / "memory"
    write(memory / "MEMORY.md", "# Memory\n- [fact] It is so (engram:0a1b2c3d-0000-4000-8000-000000000000)\n- Mine.\n")
    (draft_,) = read("claude", here(home)).drafts
    assert draft_.content == "Memory\n\n- Mine."


def test_auto_memory_that_settings_moved_elsewhere_is_found(home: Path) -> None:
    write(home / ".claude" / "settings.json", json.dumps({"autoMemoryDirectory": str(home / "notes" / "memory")}))
    write(home / "notes" / "memory" / "a.md", "Something to keep.")
    (only,) = read("claude", here(home)).drafts
    assert (only.content, only.key) == ("Something to keep.", "memory/a.md")
