"""Plain text made safe to store and to cut.

Knows Unicode: control characters, lone surrogates, normal forms, grapheme clusters. Knows no field of a memory.
"""

from __future__ import annotations

import re
import unicodedata

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_NEEDS_CARE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")

_CODE = re.compile(r"^-+\w|^[\w~.]*/\w+/\w|^[~.]{0,2}/\w|\w\w[_\\.:=@]\w")
"""An option, a path, a name in code."""
_CODE_NAME = re.compile(r"[a-z][A-Z]|\d")
_AROUND = ".,;:!?()[]{}<>\"'`“”‘’«»"

_ZWJ = "\u200d"
_EXTENDING_CATEGORIES = frozenset({"Mn", "Me", "Mc"})
_VIRAMA_CLASS = 9


def clean(text: str) -> str:
    """``text`` without what a store, a model or a terminal chokes on; in normal form C.

    Line ends of every kind become line feeds; other control characters but the tab, NUL among them, are taken out.
    Halves of surrogate pairs are joined where they belong together, and become U+FFFD where they are alone.
    """
    if _NEEDS_CARE.search(text):
        text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
    if text.isascii():
        return text
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFC", text)


def one_line(text: str) -> str:
    """``clean`` text with every run of white space as one space, and none at its ends."""
    return " ".join(clean(text).split())


def normalised(text: str) -> str:
    """The form in which two texts count as the same: NFKC, case folded, white space collapsed.

    Idempotent.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    while (again := unicodedata.normalize("NFKC", folded.casefold())) != folded:
        folded = again
    return " ".join(folded.split())


def respells_code(old: str, new: str) -> bool:
    """Whether ``new`` has a word of ``old`` in another case, and the case of that word matters.

    It does for options, paths and names in code ("-v", "/etc/App", "a_B"). It does for "getUser" and "aB3" unless
    ``new`` has them in lower case, as one types "github" in haste; "TABS" and "tabs" are one word.
    """
    before, after = _spellings(old), _spellings(new)
    for word in before.keys() & after.keys():
        forms = before[word] | after[word]
        if before[word] & after[word] or len(forms) < 2:
            continue
        if any(map(_CODE.search, forms)) or (word not in after[word] and any(map(_CODE_NAME.search, forms))):
            return True
    return False


def _spellings(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for word in text.split():
        form = word.strip(_AROUND)
        found.setdefault(form.casefold(), set()).add(form)
    return found


def cut(text: str, chars: int) -> str:
    """The longest beginning of ``text`` of at most ``chars`` characters that ends between two graphemes.

    A letter keeps its accents, a flag both its halves, a family emoji all its members. Empty where the first grapheme
    alone is longer than ``chars``.

    Args:
        text: Any text.
        chars: Unicode characters (code points), >= 0.
    """
    if len(text) <= chars:
        return text
    end = max(chars, 0)
    while end > 0 and not is_boundary(text, end):
        end -= 1
    return text[:end]


def is_boundary(text: str, at: int) -> bool:
    """Whether ``text`` may be cut before index ``at``.

    Source: Unicode Standard Annex 29, rules GB3 to GB13, with two simplifications that only ever forbid more cuts:
    whatever follows a zero-width joiner stays with it, and so does a letter after a virama.
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if _extends(after) or before == _ZWJ:
        return False
    if _is_regional(after) and _is_regional(before):
        return _regionals_before(text, at) % 2 == 0
    if unicodedata.combining(before) == _VIRAMA_CLASS and unicodedata.category(after) == "Lo":
        return False
    return not _joins_hangul(before, after)


def _extends(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char) in _EXTENDING_CATEGORIES
        or char in "\u200c\u200d\uff9e\uff9f"
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
    )


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _regionals_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return at - start


def _joins_hangul(before: str, after: str) -> bool:
    first, second = _hangul(before), _hangul(after)
    return (
        (first == "L" and second in ("L", "V", "LV", "LVT"))
        or (first in ("LV", "V") and second in ("V", "T"))
        or (first in ("LVT", "T") and second == "T")
    )


def _hangul(char: str) -> str:
    code = ord(char)
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "T"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    return ""
