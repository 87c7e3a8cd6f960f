"""Statements as tokens that can be compared: what is a number, a name, a negation, a filler.

Word lists of English, German, Chinese and Japanese. Knows single words; what two statements mean to each other is
``guard``'s business.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from perdure.domain.text import normalised


class Kind(enum.Enum):
    """What a token is to the comparison."""

    NUMBER = enum.auto()  # number, version, address, date, day of the week, month
    NAME = enum.auto()  # a proper name or an identifier, as far as its letters show
    NEGATION = enum.auto()
    POLAR = enum.auto()  # a word with an opposite: enabled, forbidden
    WIDE = enum.auto()  # one CJK character
    WORD = enum.auto()
    SYMBOL = enum.auto()  # an operator, a currency, an emoji


@dataclass(frozen=True, slots=True)
class Token:
    """One token: ``form`` compares; punctuation stands before it, or a copula that was dropped as grammar."""

    form: str
    kind: Kind
    opens_clause: bool = False
    after_copula: bool = False

    @property
    def fills(self) -> bool:
        """Whether it only carries a negation ("no longer", "nicht mehr")."""
        return self.form in _FILLERS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTION_WORDS = _words(
    "the a an our my your we i it its is are be been being of that this there do does der die das den dem des "
    "ein eine einen einem einer eines ist sind wir es wird werden lang 的 是 为 為 要 使 は が を に の で へ だ"
)
_COPULAS = _words("is are be ist sind wird werden 是 为 為 は =")
_NEGATIONS = _words(
    "not no never none without nor neither nothing nobody hardly stop stopped nicht kein keine keinen keinem "
    "keiner keines nie niemals ohne weder nichts ¬ 不 没 沒 无 無 未 勿 别 別 非 禁 なし"
)
_FILLERS = _words("longer anymore more any ever mehr länger noch 再 もう 有 能 了 も は")
_LIMITS = _words(
    "only except unless until instead but however formerly previously deprecated replaced removed was were used "
    "if nur außer bis statt sondern aber jedoch früher ehemals falls wenn "
    "只 仅 除 但 改 若 如果 だけ のみ 以外 しか ただし"
)
_OPPOSITES = (
    "enabled disabled", "enable disable", "enables disables", "on off", "always never", "allowed forbidden",
    "allowed prohibited", "allow forbid", "allow deny", "allows denies", "allowed denied", "required optional",
    "required forbidden", "true false", "yes no", "public private", "accept reject", "accepts rejects",
    "accepted rejected", "with without", "before after", "open closed", "active inactive", "synchronous asynchronous",
    "mandatory optional", "add remove", "include exclude", "included excluded", "up down", "enabled off",
    "minimum maximum", "more less", "increase decrease", "possible impossible", "safe unsafe", "valid invalid",
    "supported unsupported", "aktiviert deaktiviert", "erlaubt verboten", "erlaubt untersagt", "immer nie",
    "immer niemals", "mit ohne", "an aus", "vor nach", "öffentlich privat", "pflicht freiwillig", "offen geschlossen",
    "ein aus", "möglich unmöglich", "gültig ungültig", "开启 关闭", "打开 关闭", "启用 禁用", "启用 停用", "允许 禁止",
    "必须 禁止", "公开 私有", "同步 异步", "有効 無効", "許可 禁止", "必要 不要", "公開 非公開",
    "可能 不可能", "可 不可", "必須 任意", "同期 非同期", "增加 减少",
)  # fmt: skip
_PAIRS = frozenset(frozenset(pair.split()) for pair in _OPPOSITES)
_POLAR = frozenset(word for pair in _PAIRS for word in pair) - _words(
    "no never without nie niemals ohne on off with before after up down more less open mit vor nach an aus ein 可"
)
_WIDE_POLAR = sorted((word for word in _POLAR if word[0] > "\u3000" and len(word) > 1), key=len, reverse=True)

_CALENDAR = _words(
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays "
    "januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag "
    "sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags one two three four five six "
    "seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million eins zwei drei vier "
    "fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert tausend first second third fourth fifth "
    "once twice half double daily weekly monthly yearly hourly täglich wöchentlich monatlich jährlich today "
    "tomorrow yesterday heute morgen gestern"
)
_VERBS = _words(
    "has have must should can may uses use runs run keeps keep takes costs needs supports listens expires "
    "stays remains equals requires lasts starts ends lives hat haben muss müssen soll darf kann beträgt dauert "
    "lauscht benutzt nutzt verwendet läuft kostet braucht set pin cap serve serves cost last expire support "
    "require need take verwenden benutzen nutzen"
)
_RELATIONS = _VERBS | _words(
    "on at for after to in by from than over under as with per within and or via into onto through about auf "
    "um für nach zu bei von als über unter mit pro bis seit und oder am im aus durch is are ist sind : = 和 与 及 "
    "或 と や"
)
_ENUMERATORS = _words(
    "issue ticket pr pull room meeting step phase sprint chapter section page line case test task node server "
    "host worker shard replica team group question option rule milestone release epic bug cve user customer "
    "order invoice episode part raum schritt kapitel seite zeile fall aufgabe kunde auftrag rechnung knoten "
    "regel teil # 第 号 番"
)
_WIDE_ENUMERATORS = (
    "服务器", "節点", "节点", "房间", "会议室", "步骤", "阶段", "工单", "任务", "问题", "版本号", "サーバー", "ノード",
    "部屋", "会議室", "課題", "チケット", "フェーズ", "ステップ", "第",
)  # fmt: skip
_PAST = _words(
    "was were met went had did said made got took saw ran wrote sent came found held bought spoke told gave "
    "became began broke built caught chose felt knew left lost paid read sold thought won yesterday war waren "
    "hatte hatten wurde wurden traf ging kam sagte fand gestern"
)

_CJK = "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HANGUL = "\uac00-\ud7a3"
_NUMERAL = "[〇零一二三四五六七八九十百千万億亿两]"
_UNIT = "天日月年人次分秒小时時点號号个個位周週期円元名件回台歳岁倍成条條页頁层層"
_WEEKDAY = "(?:周|週|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?"
_TOKEN = re.compile(
    f"(?P<weekday>{_WEEKDAY})"
    f"|(?P<numeral>{_NUMERAL}{{2,}}|{_NUMERAL}(?=[{_UNIT}]))"
    f"|(?P<polar>{'|'.join(_WIDE_POLAR)})"
    "|(?P<negated>¬)"
    f"|(?P<wide>[{_CJK}])"
    f"|(?P<hangul>[{_HANGUL}]+)"
    r"|(?P<number>(?<![\w.])[-−+]?\d+(?:[.,:/\-]\d+)*(?![\w]*[A-Za-z]{4}))"
    r"|(?P<word>[A-Za-z0-9_À-ɏͰ-῿]+(?:[._/@-][A-Za-z0-9_À-ɏͰ-῿]+)*)"
    r"|(?P<other>\w+)"
    r"|(?P<symbol>[<>=!]=|->|=>|[<>=#%+*/&|~→←↔⇒]|[^\w\s.,;:!?()\[\]{}\"'`“”‘’„«»。、，；：！？（）「」『』…·\-–—_\\^@$]|[$])"
)
_CLAUSE = re.compile(r"[.,;:!?(\[{\n。、，；：！？（「『…–—]")
_CONTRACTIONS = (
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"\bcan['’]t\b|\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['’](?:s|re|ve|ll|m|d)\b", re.IGNORECASE), ""),
)
# Polite and plain endings say the same; a negated ending becomes the plain one and a mark.
_JAPANESE = (
    (re.compile("ではありません|ではない|じゃない"), "¬"),
    (re.compile("していません|していない"), "している¬"),
    (re.compile("ていません|ていない"), "ている¬"),
    (re.compile("しません|しない"), "する¬"),
    (re.compile("られません|られない"), "られる¬"),
    (re.compile("ません|なかった|なければ|ない(?![で])|ないで"), "¬"),
    (re.compile("ています"), "ている"),
    (re.compile("します"), "する"),
    (re.compile("です|である|でした"), ""),
)
_CHINESE = ((re.compile("位于|部署于"), lambda match: match[0][:-1] + "在"),)
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_UMLAUT = re.compile("[äöüßÄÖÜ]")
_GERMAN = _words(
    "sein hat haben muss soll kann im am zu von bei nur nie immer ohne gebaut "
    "der die das ist sind wir nicht und wird werden mit für auf ein eine kein keine den dem"
)


def tokens(text: str) -> tuple[Token, ...]:
    """``text`` as comparable tokens, without fillers of grammar and punctuation.

    Case and width do not count, contractions are written out, Japanese endings are made plain.
    """
    text = unicodedata.normalize("NFKC", text)
    for pattern, plain in _CONTRACTIONS:
        text = pattern.sub(plain, text)
    if _KANA.search(text):
        for pattern, plain in _JAPANESE:
            text = pattern.sub(plain, text)
    for pattern, replacement in _CHINESE:
        text = pattern.sub(replacement, text)
    german = bool(_UMLAUT.search(text)) or not _GERMAN.isdisjoint(text.lower().split())
    found: list[Token] = []
    at, opens, starts, copula = 0, False, True, False
    for match in _TOKEN.finditer(text):
        gap = text[at : match.start()]
        opens = opens or bool(_CLAUSE.search(gap))
        starts = starts or bool(re.search(r"[.!?\n。！？]", gap))
        at = match.end()
        token = _token(match, starts=starts, german=german)
        starts = False
        if token.form in _FUNCTION_WORDS:
            copula = copula or token.form in _COPULAS
            continue
        found.append(replace(token, opens_clause=opens, after_copula=copula))
        opens = copula = False
    return tuple(found)


def antonyms(one: str, other: str) -> bool:
    """Whether the two forms are listed opposites."""
    return frozenset((one, other)) in _PAIRS


def limits(token: Token) -> bool:
    """Whether the token narrows or takes back what stands before it ("only", "except", "formerly")."""
    return token.form in _LIMITS


def is_relation(token: Token) -> bool:
    """Whether the token ties a value to what it is said of: a preposition, a copula, a verb of having."""
    return token.form in _RELATIONS


def is_verb(token: Token) -> bool:
    """Whether the token is a listed verb of using, having, lasting: what follows is said of a subject left out."""
    return token.form in _VERBS


def enumerates(lead: Sequence[Token]) -> bool:
    """Whether a number after ``lead`` tells which thing is meant ("issue 12", "服务器 1")."""
    if not lead or lead[-1].form in _ENUMERATORS:
        return bool(lead)
    return "".join(token.form for token in lead[-4:]).endswith(_WIDE_ENUMERATORS)


def is_past(statement: Sequence[Token]) -> bool:
    """Whether the statement tells of something that happened, of which there may be many alike."""
    for index, token in enumerate(statement):
        if token.form in _PAST or token.form == "了":
            return True
        past = token.kind is Kind.WORD and len(token.form) > 4 and token.form.endswith("ed") and token.form.isascii()
        # The copula was dropped as grammar, so "are kept", "is planned" read as "planned for": what follows a
        # participle of state is a preposition, what follows a past tense is its object.
        follows = statement[index + 1] if index + 1 < len(statement) else None
        if past and follows is not None and not is_relation(follows) and token.kind is Kind.WORD:
            return True
    return bool(statement) and statement[-1].form == "た"


def _token(match: re.Match[str], *, starts: bool, german: bool) -> Token:
    raw, group = match[0], match.lastgroup
    form = normalised(raw)
    match group:
        case "weekday" | "numeral" | "number":
            kind = Kind.NUMBER
        case "polar":
            kind = Kind.POLAR
        case "negated":
            kind = Kind.NEGATION
        case "wide":
            kind = Kind.NEGATION if form in _NEGATIONS else Kind.WIDE
        case "symbol":
            kind = Kind.SYMBOL
        case _:
            form, kind = _word(raw, form, starts=starts, german=german)
    return Token(form, kind)


def _word(raw: str, form: str, *, starts: bool, german: bool) -> tuple[str, Kind]:
    if form in _NEGATIONS:
        return form, Kind.NEGATION
    if form in _CALENDAR and not (form == "may" and raw == "may"):
        return form, Kind.NUMBER
    if form in _POLAR:
        return form, Kind.POLAR
    if any(char.isdigit() for char in raw):
        # "5s", "v16", "18.x": a value; "fra1", "S3": a name
        return form, Kind.NUMBER if re.match(r"v?\d", form) else Kind.NAME
    inner = raw[1:]
    if any(char.isupper() for char in inner) or any(char in "_/@" or (char == "." and inner) for char in inner):
        return form, Kind.NAME
    if raw[0].isupper() and not starts and not german:
        return form, Kind.NAME
    form = form.replace("-", "")
    if form.isascii() and len(form) > 3 and form.endswith("s") and not form.endswith("ss") and not german:
        form = form[:-1]
    return form, Kind.WORD
