"""Stores of other products built as the products build them, and moving in without a gateway between."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from perdure.domain.memory import Memory
from perdure.domain.saving import ImportReport
from perdure.gateway.lines import stored_of
from perdure.importing.draft import Draft, Item, Kind, Remark
from perdure.importing.here import Here
from perdure.importing.sources import BY_NAME
from support.memory_world import MemoryWorld

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
A, B, C, D, E = (f"{n:08x}-1111-4222-8333-444444444444" for n in range(1, 6))
"""Ids as NaN Forget makes them."""


@dataclass(frozen=True)
class Read:
    """What a reader yielded."""

    items: tuple[Item, ...]

    @property
    def drafts(self) -> list[Draft]:
        return [item for item in self.items if isinstance(item, Draft)]

    def said(self, kind: Kind) -> list[str]:
        return [f"{i.place}: {i.reason}" for i in self.items if isinstance(i, Remark) and i.kind is kind]

    def by_content(self) -> dict[str, Draft]:
        return {draft.content: draft for draft in self.drafts}


def here(home: Path, folder: Path | None = None, **more: Any) -> Here:
    return Here(home=home, folder=folder or home, **more)


def read(name: str, where: Here, *paths: Path) -> Read:
    """Read ``paths``, or where the source usually is."""
    source = BY_NAME[name]
    return Read(tuple(source.read(list(paths) or source.places(where), where, lambda _done, _total: None)))


def take_in(world: MemoryWorld, drafts: Iterable[Draft], *, dry_run: bool = False, now: datetime = NOW) -> ImportReport:
    """Send drafts through the same two steps as the gateway: a line read back, and the use case."""
    lines = [stored_of(json.dumps(draft.line(now)).encode(), world.me.namespace) for draft in drafts]
    return world.import_(world.me, lines, dry_run=dry_run)


def kept(world: MemoryWorld) -> dict[str, Memory]:
    """Every memory of every status, by its text."""
    from perdure.domain.memory import Filter

    return {memory.statement.content: memory for memory, _ in world.export(world.me, Filter(), every_status=True)}


def fingerprints(folder: Path) -> dict[str, str]:
    """Every file below a folder and a digest of what it holds: equal before and after, nothing was touched."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(path: Path, text: str, *, at: datetime | None = None) -> Path:
    """A file, with the time at which it was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    if at is not None:
        os.utime(path, (at.timestamp(), at.timestamp()))
    return path


NAN_FORGET_TABLE = """
CREATE TABLE memories (
  id TEXT PRIMARY KEY, user_id TEXT NOT NULL, content TEXT NOT NULL, summary TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active', project TEXT NOT NULL, tags TEXT DEFAULT '[]', source TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, expires_at TEXT, access_count INTEGER DEFAULT 0,
  last_accessed TEXT NOT NULL, embedding_provider TEXT NOT NULL, embedding_model TEXT NOT NULL,
  consolidated_from TEXT, problem TEXT, solution TEXT, files TEXT, concepts TEXT,
  confidence REAL DEFAULT 0.5, provenance TEXT DEFAULT 'save', tier TEXT DEFAULT 'regular')
"""
NAN_FORGET_ROW: dict[str, Any] = {
    "user_id": "default", "summary": "", "type": "fact", "status": "active", "project": "shop", "tags": "[]",
    "source": "user", "created_at": "2026-03-01T10:00:00.000Z", "updated_at": "2026-03-02T10:00:00.000Z",
    "last_accessed": "2026-04-01T10:00:00.000Z", "embedding_provider": "ollama",
    "embedding_model": "nomic-embed-text",
}  # fmt: skip
NAN_FORGET_ROWS: tuple[dict[str, Any], ...] = (
    {
        "id": A, "content": "We use Postgres 16 because of its JSON path queries.", "type": "decision",
        "tags": '["db","postgres"]', "access_count": 7, "problem": "Reports were slow", "solution": "jsonb_path_ops",
        "files": '["src/db.ts"]', "concepts": '["database"]', "confidence": 0.95, "provenance": "human",
        "tier": "core",
    },
    {"id": B, "content": "The old cluster ran in Dublin.", "status": "archived", "expires_at": "2026-09-01T00:00:00Z"},
    {"id": C, "content": "Deploys go out on Tuesdays.", "status": "archived"},
    {
        "id": D, "content": "Deploys go out on Tuesdays and Thursdays.", "source": "cleaner",
        "consolidated_from": json.dumps([C]), "project": "_global", "user_id": "ada",
    },
)  # fmt: skip


def nan_forget(path: Path, rows: Sequence[dict[str, Any]] = NAN_FORGET_ROWS, *, log: bool = False) -> Path:
    """A database as NaN Forget makes it, its vector table too; with ``log`` its last row is in the write-ahead log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON")
    connection.execute(NAN_FORGET_TABLE)
    connection.execute(
        "CREATE VIRTUAL TABLE vec_memories USING vec0(memory_id TEXT PRIMARY KEY, embedding float[768] "
        "distance_metric=cosine)"
    )
    connection.execute("BEGIN")
    for row in rows:
        whole = NAN_FORGET_ROW | row
        marks = ", ".join("?" for _ in whole)
        connection.execute(f"INSERT INTO memories ({', '.join(whole)}) VALUES ({marks})", tuple(whole.values()))
        vector = sqlite_vec.serialize_float32([1.0, *[0.0] * 767])
        connection.execute("INSERT INTO vec_memories VALUES (?, ?)", (whole["id"], vector))
    connection.execute("COMMIT")
    if not log:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path
    # as another program leaves it that is running, or was killed
    copy = {name: Path(f"{path}{name}").read_bytes() for name in ("", "-wal", "-shm")}
    connection.close()
    for name, raw in copy.items():
        Path(f"{path}{name}").write_bytes(raw)
    return path
