"""Whatever lies in a source, reading it ends in drafts and remarks, and every draft is a line the gateway reads."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.namespace import NamespaceName
from perdure.gateway.lines import stored_of
from perdure.importing.exported import document, read_document
from perdure.importing.sources import SOURCES
from perdure.importing.text import PART_BYTES_MAX, parts_of, sections_of
from support.moving_in import NOW, here, nan_forget, read

ROUNDS = 60
SEED = 20261201
_NOTE = (
    b"---\ntitle: T\ntags: [a, b]\ndate: 2025-01-01\n---\n# 1. T\n\n## Status\n\nAccepted\n\n"
    b"## Decision\n- [fact] x #y\n- r [[Z]]\n"
)
_LINES = (
    b'{"type":"entity","name":"A","entityType":"p","observations":["o"]}\n'
    b'{"type":"relation","from":"A","to":"B","relationType":"r"}\n'
    b'{"type":"user","message":{"role":"user","content":"We decided to use Postgres 16 for orders."},"cwd":"/x"}\n'
)
_JSON = (
    b'[{"id":"1","key":"k","content":"c","memory":"m","tags":["t"],"importance":0.5,"created_at":"2025-01-01",'
    b'"metadata":{"a":1},"status":"archived","consolidated_from":["2"],"confidence":0.9,"access_count":3}]'
)


def mutated(raw: bytes, rng: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(rng.randint(1, 12)):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randint(1, 20)]
            case 2:
                data[at:at] = rng.choice(
                    [b"null", b"{", b"]", b'"', b"\x00", b"\xff", b"9" * 30, b"---\n", b"[[", b"# "]
                )
            case _:
                data += data[at : at + 50]
        if not data:
            return b""
    return bytes(data)


_ODD: tuple[object, ...] = (
    None, True, 7, -1.5, 1e400, "", "x" * 400, "9999-99-99", [], [None, 3], {}, {"a": []}, "\x00\ud800", 2**70,
)  # fmt: skip


def twisted(value: object, rng: random.Random) -> object:
    """A JSON value with some of what it holds put out of shape."""
    if rng.random() < 0.12:
        return rng.choice(_ODD)
    if isinstance(value, dict):
        return {name: twisted(item, rng) for name, item in value.items()}
    return [twisted(item, rng) for item in value] if isinstance(value, list) else value


def harmed(raw: bytes, rng: random.Random) -> bytes:
    """A source with bytes changed or, where it is JSON, values."""
    if raw.startswith((b"[", b"{")) and rng.random() < 0.7:
        lines = [json.dumps(twisted(json.loads(line), rng)).encode() for line in raw.splitlines()]
        return b"\n".join(lines)
    return mutated(raw, rng)


WHOLE = {
    "nan-forget": ("memories.db", b""), "builderforce": ("memory.json", _JSON), "claude": ("memory/a.md", _NOTE),
    "transcripts": ("s.jsonl", _LINES), "mem0": ("all.json", _JSON), "mcp-memory": ("memory.jsonl", _LINES),
    "basic-memory": ("n.md", _NOTE), "markdown": ("n.md", _NOTE), "adr": ("0001-x.md", _NOTE),
}  # fmt: skip


@pytest.mark.requirement("I4-MOVE-05")
@pytest.mark.parametrize("name", [source.name for source in SOURCES])
def test_damaged_sources_never_stop_an_import(name: str, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    file, whole = WHOLE[name]
    if name == "nan-forget":
        whole = nan_forget(tmp_path / "whole.db").read_bytes()
    understood = 0
    for number in range(ROUNDS):
        raw = harmed(whole if number % 4 else rng.choice([_NOTE, _LINES, _JSON]), rng)
        path = tmp_path / str(number) / file
        path.parent.mkdir(parents=True)
        path.write_bytes(raw)
        for draft in [*read(name, here(tmp_path), path).drafts, *read(name, here(tmp_path), path.parent).drafts]:
            understood += 1
            line = draft.line(NOW)
            assert line["content"].strip()
            stored_of(json.dumps(line).encode(), NamespaceName("default"))
        assert path.read_bytes() == raw
    assert understood > ROUNDS / 3, "the damage leaves little to read, so this proves little"


@given(st.text(max_size=400), st.dictionaries(st.sampled_from(["summary", "problem", "key", "solution"]), st.text()))
def test_a_document_reads_back_as_what_was_written(content: str, fields: dict[str, str]) -> None:
    memory = {"id": "0" * 8, "content": content, "tags": ["a, b", "---"], **{n: v for n, v in fields.items() if v}}
    own = read_document(
        document(memory).encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass"), "x", NOW
    ).own
    assert own == memory


@given(st.text(), st.integers(1, 4))
def test_parts_hold_all_the_words_and_fit(text: str, times: int) -> None:
    long = (text + " word\n") * times * 4000
    parts = parts_of(long[: PART_BYTES_MAX * 4])
    assert all(len(part.encode("utf-8", "replace")) <= PART_BYTES_MAX for part in parts)


@given(st.lists(st.sampled_from(["# a", "## b", "text", "", "```", "~~~", "#no", "   # c", "###### d #"]), max_size=30))
def test_sections_lose_no_line_of_text(lines: list[str]) -> None:
    found = "\n".join(section.body for section in sections_of("\n".join(lines)))
    assert found.count("text") == lines.count("text")
    assert found.count("#no") == lines.count("#no")
