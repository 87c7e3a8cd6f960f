"""Secrets in XML and HTML: the text of an element, an attribute, or the value of a field that asks for one."""

from __future__ import annotations

import re

from perdure.domain.experience.secret_labels import is_password_control, is_secret_label

_ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z][\w:.-]{1,60})(?:\s[^<>]{0,300})?>\s*(?:<!\[CDATA\[)?(?P<value>[^<>]{1,400}?)(?:\]\]>)?\s*</"
)
_TAG = re.compile(r"""<[A-Za-z][\w:.-]{0,60}(?=[\s/])(?P<within>(?:"[^"]*"|'[^']*'|[^<>"']){0,2000}+)>""")
_ATTRIBUTE = re.compile(
    r"""(?<![\w:.-])(?P<name>[A-Za-z_][\w:.-]{0,60})\s*=\s*"""
    r"""(?:\\?"(?P<double>[^"\\]*)\\?"|\\?'(?P<single>[^'\\]*)\\?'|(?P<bare>[^\s"'<>\\]+?)(?=\s|/?\Z))"""
)
_NAMING = frozenset({"name", "id", "placeholder", "aria-label", "label", "title", "key"})
_VALUES = frozenset({"value", "defaultvalue", "data-value"})


def in_markup(text: str) -> list[tuple[int, int]]:
    """Spans of what stands in the place of a secret, in order, none empty."""
    if "<" not in text or ">" not in text:
        return []
    spans = {match.span("value") for match in _ELEMENT.finditer(text) if is_secret_label(match["name"])}
    for tag in _TAG.finditer(text):
        spans.update(_in_tag(tag["within"], tag.start("within")))
    return sorted((start, end) for start, end in spans if start < end)


def _in_tag(within: str, at: int) -> list[tuple[int, int]]:
    found: list[tuple[str, str, tuple[int, int]]] = []
    for match in _ATTRIBUTE.finditer(within):
        group = next(name for name in ("double", "single", "bare") if match[name] is not None)
        start, end = match.span(group)
        found.append((match["name"].lower(), match[group], (at + start, at + end)))
    asks = is_password_control("", "", [(name, value) for name, value, _ in found]) or any(
        name in _NAMING and is_secret_label(value) for name, value, _ in found
    )
    return [
        span for name, _, span in found if (asks and name in _VALUES) or (name not in _NAMING and is_secret_label(name))
    ]
