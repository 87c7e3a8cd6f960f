"""YAML front matter, as much of it as people write by hand, read leniently. Never fails, never loses the body."""

from __future__ import annotations

import re

Value = str | list[str]

_FENCE = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z))", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"^(\s*)(?:\"([^\"]+)\"|'([^']+)'|([\w][\w .-]*?))\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"^\s*-\s+(.*)$")
_BLOCK = re.compile(r"^[|>][+-]?\d?\s*(?:#.*)?$")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


def split(text: str) -> tuple[dict[str, Value], str]:
    """The front matter of ``text`` and the rest.

    Nested values appear under their own name unless a name nearer the top is the same. A text without front matter is
    all body, also one that contains lines of dashes.
    """
    match = _FENCE.match(text)
    if match is None or not _looks_like_pairs(match[1]):
        return {}, text.removeprefix("\ufeff")
    return _pairs(match[1].splitlines()), text[match.end() :]


def _looks_like_pairs(block: str) -> bool:
    lines = [line for line in block.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return not lines or _PAIR.match(lines[0]) is not None


def _pairs(lines: list[str]) -> dict[str, Value]:
    found: dict[str, tuple[int, Value]] = {}
    index = 0
    while index < len(lines):
        pair = _PAIR.match(lines[index])
        index += 1
        if pair is None:
            continue
        depth = len(pair[1].expandtabs())
        name = (pair[2] or pair[3] or pair[4]).strip().lower()
        raw = (pair[5] or "").strip()
        value: Value
        if _BLOCK.match(raw):
            value, index = _block(lines, index, depth, folded=raw.startswith(">"))
        elif raw.startswith("[") and not raw.endswith("]"):
            value, index = _open_list(raw, lines, index)
        elif raw.startswith("["):
            value = _inline_list(raw)
        elif raw and not raw.startswith("#"):
            more, index = _continued(lines, index, depth)
            value = _scalar(" ".join([raw, *more]))
        else:
            value, index = _items(lines, index)
        if name not in found or depth < found[name][0]:
            found[name] = (depth, value)
    return {name: value for name, (_, value) in found.items() if value}


def _block(lines: list[str], index: int, depth: int, *, folded: bool) -> tuple[str, int]:
    taken: list[str] = []
    while index < len(lines) and (not lines[index].strip() or _indent(lines[index]) > depth):
        taken.append(lines[index].strip())
        index += 1
    return (" " if folded else "\n").join(taken).strip(), index


def _continued(lines: list[str], index: int, depth: int) -> tuple[list[str], int]:
    """Further lines of a plain value: deeper than its name and neither a pair nor an item."""
    more: list[str] = []
    while index < len(lines) and lines[index].strip() and _indent(lines[index]) > depth:
        if _PAIR.match(lines[index]) or _ITEM.match(lines[index]):
            break
        more.append(lines[index].strip())
        index += 1
    return more, index


def _items(lines: list[str], index: int) -> tuple[list[str], int]:
    items: list[str] = []
    while index < len(lines) and (item := _ITEM.match(lines[index])):
        items.append(_scalar(item[1]))
        index += 1
    return items, index


def _open_list(raw: str, lines: list[str], index: int) -> tuple[list[str], int]:
    parts = [raw]
    while index < len(lines) and "]" not in parts[-1]:
        parts.append(lines[index].strip())
        index += 1
    return _inline_list(" ".join(parts)), index


def _inline_list(raw: str) -> list[str]:
    inner = raw[1:].rpartition("]")[0] or raw[1:]
    items = re.findall(r"\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,]+)", inner)
    return [text for item in items if (text := _scalar(item.strip()))]


def _scalar(raw: str) -> str:
    raw = raw.strip()
    if raw[:1] == '"' and (end := re.match(r'"((?:[^"\\]|\\.)*)"', raw)):
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), end[1])
    if raw[:1] == "'" and (end := re.match(r"'((?:[^']|'')*)'", raw)):
        return end[1].replace("''", "'")
    return re.split(r"\s#", raw, maxsplit=1)[0].rstrip()


def _indent(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())
