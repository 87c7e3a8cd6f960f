"""Secrets in text: found before they are stored, blanked or refused.

Two nets. Formats that announce themselves (a prefix, an armour, a URL with a password) are in ``secret_formats``; here
a value is also found by what is said of it ("password: …"), if it looks like one and not like a placeholder, a
variable, a rule or a name. Prefers a miss to blanking what is no secret: hashes, ids and examples stay.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from perdure.domain.memory import Statement
from perdure.domain.secret_formats import FORMATS

_NAMES = (
    r"pass(?:word|wd|phrase|code|wort)|pwd|kennwort|contraseña|mot de passe|"
    r"密码|密碼|口令|パスワード|暗証番号|비밀번호|пароль"
)
_KEYS = (
    r"api[_\- ]?key|api[_\- ]?token|access[_\- ]?key|access[_\- ]?token|auth[_\- ]?token|refresh[_\- ]?token|"
    r"bearer[_\- ]?token|id[_\- ]?token|session[_\- ]?(?:token|key|secret)|client[_\- ]?secret|app[_\- ]?secret|"
    r"secret[_\- ]?(?:access[_\- ]?)?key|shared[_\- ]?(?:access[_\- ]?)?key|signing[_\- ]?(?:key|secret)|"
    r"encryption[_\- ]?key|private[_\- ]?key|account[_\- ]?key|master[_\- ]?key|webhook[_\- ]?secret|license[_\- ]?key|"
    r"credentials?|secret|token|_auth|auth|密钥|令牌|トークン|秘密鍵|apikey"
)
_VALUE = r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`<>,;，。；、（）]{4,400})"
_SEP = r"[\"'`\])]*\s{0,3}(?:=>|:=|[:=：＝]|→)\s{0,3}"
_IS = r"\s{1,2}(?:(?:is|was|are|lautet|ist|war|es|est)\s{1,2}(?:now\s|still\s|jetzt\s)?)|\s?(?:是|为|は|が)\s?"
_PASSWORD = re.compile(rf"(?i:(?P<name>{_NAMES}))(?:{_SEP}){_VALUE}")
_PASSWORD_SAID = re.compile(rf"(?i:(?P<name>{_NAMES}))(?:{_IS}){_VALUE}")
_PASSWORD_FLAG = re.compile(rf"(?i:(?:\s--?(?:password|passwd)[ =]|\bpassword\s)){_VALUE}")
_KEY = re.compile(rf"(?i:(?P<name>{_KEYS}))(?:{_SEP}|\s{{1,2}}is\s{{1,2}}){_VALUE}")

_HINT = re.compile(rf"(?i:{_NAMES}|key|secret|token|auth|credential|密钥|令牌|トークン|鍵)")

_PLACEHOLDER = re.compile(
    r"(?i)^(?:your|my|the|some|any|example|sample|dummy|test|foo|bar|xxx|todo|changeme|change[_-]me|replace|insert|enter|"
    r"placeholder|redacted|hidden|secret|password|passwd|pass|token|null|none|nil|true|false|undefined|required|optional|"
    r"string|str|bytes|int|bool|env|vault|unset|empty|n/a)(?:[_\-.\s:|\[(].*|\d*)$|\.\.\.|…|^[*•x.\-_#]+$|^\$|^%|^\{|^<|^\[redacted"
)
_CODE = re.compile(
    r"[()\[\]{}]|\$\{|\{\{|^(?:[a-z_][\w]*\.)+[A-Za-z_]\w*$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|://|^/|^\.{1,2}/"
)
_IDENTIFIER = re.compile(r"^[a-z]+(?:[-_.][a-z]+)*$|^[A-Z][a-z]+$|^\d+(?:\.\d+)*[a-z%]{0,3}$")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_UUID = re.compile(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE)
_UUID_NAMES = re.compile(r"(?i)api[_\- ]?(?:key|token)|access[_\- ]?token|secret|license")
_SYMBOLS = frozenset("!@#$%^&*?+~=|/\\")
_REPEATED_MIN = 8
"""Shorter values are not looked for elsewhere; they may be words."""
_TRAILING = ".,;:)]}…"


@dataclass(frozen=True, slots=True)
class Found:
    """A secret at ``text[start:end]``; ``kind`` names its format in lower case with underscores."""

    start: int
    end: int
    kind: str


def find(text: str) -> tuple[Found, ...]:
    """Secrets in ``text``, in order, none overlapping."""
    found = [
        Found(*span, kind) for kind, hints, pattern in FORMATS if _hinted(text, hints) for span in _spans(pattern, text)
    ]
    if _HINT.search(text):
        found.extend(_said(text))
    return _disjoint(found)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """``text`` with ``[redacted:<kind>]`` in the place of each secret, and the kinds, each once, in order."""
    found = find(text)
    if not found:
        return text, ()
    pieces: list[str] = []
    at = 0
    for item in found:
        pieces += (text[at : item.start], f"[redacted:{item.kind}]")
        at = item.end
    pieces.append(text[at:])
    return "".join(pieces), tuple(dict.fromkeys(item.kind for item in found))


def redact_statement(statement: Statement) -> tuple[Statement, tuple[str, ...]]:
    """``statement`` with the secrets of every field blanked, and their kinds, each once.

    A secret that one place gives away ("password: …") is blanked wherever else the statement repeats it.
    """
    known: dict[str, str] = {}
    kinds: list[str] = []
    for text in _texts(statement):
        for item in find(text):
            kinds.append(item.kind)
            value = text[item.start : item.end]
            if len(value) >= _REPEATED_MIN and _classes(value) >= 2:
                known[value] = item.kind
    if not kinds:
        return statement, ()
    longest_first = sorted(known, key=len, reverse=True)

    def blanked(text: str) -> str:
        clean, _ = redact(text)
        for value in longest_first:
            clean = clean.replace(value, f"[redacted:{known[value]}]")
        return clean

    def each(items: Iterable[str]) -> tuple[str, ...]:
        return tuple(blanked(item) for item in items)

    clean = replace(
        statement,
        content=blanked(statement.content),
        problem=None if statement.problem is None else blanked(statement.problem),
        solution=None if statement.solution is None else blanked(statement.solution),
        key=None if statement.key is None else blanked(statement.key),
        project=blanked(statement.project),
        concepts=each(statement.concepts),
        files=each(statement.files),
        tags=each(statement.tags),
    )
    return clean, tuple(dict.fromkeys(kinds))


def _texts(statement: Statement) -> Iterator[str]:
    yield from filter(None, (statement.content, statement.problem, statement.solution, statement.key))
    yield statement.project
    for items in (statement.concepts, statement.files, statement.tags):
        yield from items


def _hinted(text: str, hints: tuple[str, ...]) -> bool:
    return any(hint in text for hint in hints)


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    spans = []
    for match in pattern.finditer(text):
        named = match.groupdict()
        if "password" in named:
            if _is_sample_password(match["password"], named.get("user") or ""):
                continue
            spans.append(match.span("password"))
        else:
            group = "value" if "value" in named else 0
            if match[group].strip() and "[redacted:" not in match[group]:
                spans.append(match.span(group))
    return spans


def _is_sample_password(password: str, user: str) -> bool:
    return bool(_PLACEHOLDER.search(password)) or (password.lower() == user.lower() and password.isalpha())


def _said(text: str) -> list[Found]:
    found = []
    for pattern, kind, judge in (
        (_PASSWORD, "password", _is_password),
        (_PASSWORD_FLAG, "password", _is_strong),
        (_PASSWORD_SAID, "password", _is_strong),
        (_KEY, "api_key", _is_key),
    ):
        for match in pattern.finditer(text):
            start = match.start("value")
            value = match["value"]
            value = value if match["quote"] else value.rstrip(_TRAILING) or value
            value = _until_parameter(value)
            if judge(value) or (_UUID.match(value) and _UUID_NAMES.search(match[0])):
                found.append(Found(start, start + len(value), kind))
    return found


def _until_parameter(value: str) -> str:
    """The value before the next parameter of a URL, if one follows."""
    match = re.search(r"&[A-Za-z_]\w*=", value)
    return value[: match.start()] if match else value


def _is_password(value: str) -> bool:
    """Whether the value of a password's assignment is one: not a word, a variable, a rule, a placeholder."""
    if len(value) < 6 or _is_harmless(value):
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return mixed or not _SYMBOLS.isdisjoint(value) or _is_jumbled(value)


def _is_strong(value: str) -> bool:
    """Whether a word that prose calls a password is one: three kinds of characters at least, one a digit."""
    if len(value) < 8 or _is_harmless(value) or not any(char.isdigit() for char in value):
        return False
    return _classes(value) >= 3


def _is_key(value: str) -> bool:
    """Whether the value of a key's or token's assignment is one: long, without words, of high entropy."""
    if len(value) < 16 or _is_harmless(value) or _UUID.match(value):
        return False
    if not any(char.isdigit() for char in value) and not _is_jumbled(value):
        return False
    return _entropy(value) >= 3.0 and not value.isdigit()


def _is_harmless(value: str) -> bool:
    return bool(_PLACEHOLDER.search(value) or _CODE.search(value) or _IDENTIFIER.match(value)) or not value.isascii()


def _is_jumbled(value: str) -> bool:
    """Whether letters change case as no name does: pieces of less than four letters on average."""
    if len(value) < 10 or not value.isalpha() or value.islower() or value.isupper():
        return False
    pieces = _CAMEL.findall(value)
    return len(pieces) >= 3 and len(value) / len(pieces) < 4.0


def _classes(value: str) -> int:
    return (
        any(char.islower() for char in value)
        + any(char.isupper() for char in value)
        + any(char.isdigit() for char in value)
        + any(not char.isalnum() for char in value)
    )


def _entropy(value: str) -> float:
    """Bits a character, from the characters' own frequencies."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def _disjoint(found: list[Found]) -> tuple[Found, ...]:
    """Those in order of the text; of two that overlap the one named first in the list of formats, widened over both."""
    kept: list[Found] = []
    for item in found:
        clash = [other for other in kept if item.start < other.end and other.start < item.end]
        if not clash:
            kept.append(item)
            continue
        first = clash[0]
        whole = Found(
            min(item.start, *(other.start for other in clash)),
            max(item.end, *(other.end for other in clash)),
            first.kind,
        )
        kept = [other for other in kept if other not in clash]
        kept.append(whole)
    return tuple(sorted(kept, key=lambda item: item.start))
