"""Labels and identifiers taken apart into words.

Knows how people write names for screens and code (``btnDelete``, ``delete_account``, ``Senden…``); knows no language.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+|\d+")
_ONE_WORD = re.compile(r"[a-z][A-Z]+\Z|[A-Z]{2,}s\Z")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def plain(text: str) -> str:
    """``text`` in NFKC without the marks of keyboard shortcuts ("&Delete", "Löschen (&D)")."""
    folded = unicodedata.normalize("NFKC", text)
    folded = re.sub(r"\(&\w\)", " ", folded)
    return re.sub(r"(?<!\S)&(?=\w)|(?<=\w)&(?=\w)(?!\w*;)", "", folded)


def words(text: str) -> tuple[str, ...]:
    """The words of ``text`` in lower case, in order, those inside an identifier among them.

    Numbers count as words. "iTAN" and "mTAN" are one word, as are "IDs" and "PINs".
    """
    found: list[str] = []
    for run in _WORD.findall(plain(text)):
        found.extend(part.casefold() for part in _parts(run))
    return tuple(found)


def has_cjk(text: str) -> bool:
    """True where ``text`` has a Chinese, Japanese or Korean character."""
    return _CJK.search(text) is not None


def without_accents(word: str) -> str:
    """``word`` with its letters bare: "löschen" is "loschen"; letters that are no variants stay."""
    if word.isascii():
        return word
    bare = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare)


def _parts(run: str) -> list[str]:
    """A run of letters at the humps of its camel case: HTMLParser, btnDelete; mTAN and PINs stay whole."""
    if run.islower() or run.isupper() or run.istitle() or run.isdigit() or _ONE_WORD.match(run):
        return [run]
    cuts = [0]
    for at in range(1, len(run)):
        before, here, after = run[at - 1], run[at], run[at + 1 : at + 2]
        if here.isupper() and (before.islower() or (before.isupper() and after.islower())):
            cuts.append(at)
    return [run[start:end] for start, end in zip(cuts, [*cuts[1:], len(run)], strict=True)]
