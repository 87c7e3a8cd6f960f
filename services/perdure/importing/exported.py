"""Perdure's own Markdown: one memory a file, its fields as a YAML head, its text as the body; written and read back.

Every value of the head is written as JSON, which is YAML too, so that reading it back loses nothing. The head ends with
a digest of the rest: where it does not fit, a person edited the file, and what it says now is newer than what it said.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from perdure.importing.draft import Draft, identity, key_of, moment, words
from perdure.importing.notes import type_of
from perdure.importing.text import slug

MARK = "perdure"
_DIGEST = "sha256"
VERSION = 1
_HEAD = re.compile(r"\A---\n(.*?\n)---\n\n?", re.DOTALL)
_PAIR = re.compile(r"([a-z0-9_]+): (.*)")
# what YAML does not take as it is, although JSON does
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LEFT_OUT = frozenset({"content", "namespace", "space", "content_lost", "embedded", "revisions"})
_FIRST = ("id", "project", "type", "key", "summary", "tags", "created_at", "updated_at")


def document(memory: dict[str, Any]) -> str:
    """A memory as the gateway's export has it, as a Markdown document; history and vector are not in it."""
    names = [*(n for n in _FIRST if n in memory), *sorted(n for n in memory if n not in _FIRST)]
    lines = [f"{MARK}: {VERSION}"]
    lines += [
        f"{name}: {_value(memory[name])}" for name in names if name not in _LEFT_OUT and memory[name] not in ([], None)
    ]
    content = str(memory["content"])
    lines.append(f"{_DIGEST}: {_value(_digest(lines, content))}")
    return "---\n" + "\n".join(lines) + f"\n---\n\n{content}\n"


def name_of(memory: dict[str, Any]) -> tuple[str, str]:
    """Folder and file name for a memory: its project, and its summary with the end of its id."""
    folder = slug(str(memory.get("project") or "")) or "memories"
    title = slug(str(memory.get("summary") or memory.get("type") or ""), chars_max=50) or "memory"
    return folder, f"{title}-{str(memory['id'])[-12:]}.md"


def is_document(text: str) -> bool:
    """Whether ``text`` is what ``document`` makes."""
    return text.startswith((f"---\n{MARK}: ", f"---\r\n{MARK}: "))


def read_document(text: str, place: str, written: datetime) -> Draft:
    """The memory in a document that was last written at ``written``.

    Raises:
        ValueError: its head was edited into something else.
    """
    if text.startswith("---\r\n"):
        text = text.replace("\r\n", "\n")
    match = _HEAD.match(text)
    if match is None:
        raise ValueError("its head does not end")
    lines = match[1].splitlines()
    line: dict[str, Any] = {}
    for raw in lines:
        pair = _PAIR.fullmatch(raw)
        if pair is None:
            raise ValueError("a line of its head is no field")
        line[pair[1]] = _read(pair[1], pair[2])
    if line.pop(MARK, None) != VERSION:
        raise ValueError("a newer Perdure wrote it")
    line["content"] = text[match.end() :].removesuffix("\n")
    digest = line.pop(_DIGEST, None)
    if digest != _digest([raw for raw in lines if not raw.startswith(f"{_DIGEST}:")], line["content"]):
        line |= {"updated_at": written.astimezone(UTC).isoformat()}
        line.pop("summary", None)
        line.pop("stub", None)
    return Draft(
        id=str(line.get("id") or identity(MARK, place)),
        place=place,
        host=MARK,
        content=line["content"],
        type=type_of(str(line.get("type") or "fact")),
        project=str(line.get("project") or "_global"),
        key=key_of(str(line.get("key") or "")),
        tags=words(line.get("tags")),
        created_at=moment(line.get("created_at")),
        own=line,
    )


def _digest(lines: list[str], content: str) -> str:
    return hashlib.sha256("\n".join([*lines, content]).encode("utf-8", "surrogatepass")).hexdigest()


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _read(name: str, raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        # a person wrote it by hand: a word, or words with commas between
        return list(words(raw)) if name in ("tags", "concepts", "files") else raw.strip()
