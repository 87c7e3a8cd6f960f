"""The data that quality is measured on, read into typed values.

Knows the files in ``tests/quality/data`` (our own words, written for this) and the shape of LoCoMo, which stays outside
the repository for its licence. Knows nothing of the product: what a memory becomes, how it is searched and what counts
as good are the business of the measurements that use this.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, Literal

MEMORY_TYPES: Final = frozenset({"fact", "decision", "preference", "task", "context"})
RecallLanguage = Literal["en", "zh", "ja"]
PairLabel = Literal["same", "changed", "different"]

DATA: Final = Path(__file__).parent / "data"
REPOSITORY: Final = Path(__file__).resolve().parents[2]
MEAN_CORPUS: Final = REPOSITORY / "services" / "perdure" / "embedding" / "mean" / "corpus.jsonl"

LOCOMO_CATEGORIES: Final[Mapping[int, str]] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
# Some cells hold several ids ("D8:6; D9:17"); a malformed one ("D:11:26") matches nothing and drops out.
_EVIDENCE: Final = re.compile(r"D(\d+):(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")
_PLACEHOLDER: Final = re.compile(r"\{(\d)\}")


@dataclass(frozen=True, slots=True)
class SampleMemory:
    """One memory to be saved before the questions are asked.

    ``id`` is the data set's own name for it, unique in its language; the product gives its own.
    """

    id: str
    type: str
    project: str
    content: str
    created: date | None = None
    problem: str | None = None
    solution: str | None = None
    key: str | None = None
    files: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the ids of the memories that answer it; none means that an honest answer is "no match"."""

    query: str
    expects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallSet:
    """Memories of one language and the questions about them."""

    language: RecallLanguage
    memories: tuple[SampleMemory, ...]
    questions: tuple[Question, ...]

    @property
    def answerable(self) -> tuple[Question, ...]:
        """The questions that some memory answers."""
        return tuple(question for question in self.questions if question.expects)

    @property
    def negatives(self) -> tuple[Question, ...]:
        """The questions about things that were never saved."""
        return tuple(question for question in self.questions if not question.expects)


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two statements and how they relate.

    ``same``: a paraphrase, perhaps with more detail. ``changed``: the same statement with another number, version,
    name, date or negation. ``different``: another subject.
    """

    language: str
    a: str
    b: str
    label: PairLabel


@dataclass(frozen=True, slots=True)
class SecretSample:
    """A text and the exact substrings of it that must not be stored; none means that it must be left alone."""

    format: str
    text: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeanRecord:
    """A record of the shipped corpus that the embedding space's fixed mean vector is computed from."""

    language: str
    memory: SampleMemory


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person types to a coding agent in a project, and the memories that bear on it; none for most prompts.

    ``part`` is ``dev`` for prompts that constants may be chosen on and ``held`` for those that only measure.
    """

    part: Literal["dev", "held"]
    language: str
    project: str
    text: str
    expects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """One turn of a dialogue; ``document`` is the text to be saved, ``dialog_id`` looks like ``D3:7``."""

    dialog_id: str
    session: int
    document: str


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """A question, its category in 1..5 and the turns that answer it, at least one, in order, without repetition."""

    query: str
    category: int
    evidence: tuple[str, ...]

    @property
    def category_name(self) -> str:
        """The category's name: many projects swap 1 and 4, so tables print names."""
        return LOCOMO_CATEGORIES[self.category]


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """One conversation: its turns in order and the questions of which some evidence resolves."""

    sample_id: str
    turns: tuple[LocomoTurn, ...]
    questions: tuple[LocomoQuestion, ...]
    dropped_questions: int


def load_recall_set(language: RecallLanguage) -> RecallSet:
    """The memories and questions of one language, in the order of the file.

    Raises:
        ValueError: a line is neither a memory nor a question.
    """
    memories: list[SampleMemory] = []
    questions: list[Question] = []
    for row in _rows(DATA / f"{language}.jsonl"):
        match row["kind"]:
            case "memory":
                memories.append(_memory(row, str(row["id"])))
            case "question":
                questions.append(Question(query=str(row["query"]), expects=_strings(row, "expects")))
            case other:
                raise ValueError(f"{language}.jsonl: unknown kind {other!r}")
    return RecallSet(language, tuple(memories), tuple(questions))


def load_pairs() -> tuple[StatementPair, ...]:
    """Every labelled pair for the guard of save-time resolution.

    Raises:
        ValueError: a label is none of the three.
    """
    pairs = []
    for row in _rows(DATA / "pairs.jsonl"):
        label = row["label"]
        if label not in ("same", "changed", "different"):
            raise ValueError(f"pairs.jsonl: unknown label {label!r}")
        pairs.append(StatementPair(str(row["lang"]), str(row["a"]), str(row["b"]), label))
    return tuple(pairs)


def load_secrets() -> tuple[SecretSample, ...]:
    """Texts with secrets and look-alikes without, joined from their parts.

    The file holds each secret cut into parts and a text with ``{0}``, ``{1}`` in their places, so that no secret
    scanner of a Git host stops a push. Parts named in ``plain`` (the header of a key block) are joined too and are no
    secret.

    Raises:
        ValueError: a placeholder has no parts, or parts have no placeholder.
        TypeError: the parts are not lists.
    """
    samples = []
    for row in _rows(DATA / "secrets.jsonl"):
        parts = row["parts"]
        plain = row.get("plain", [])
        if not isinstance(parts, list) or not isinstance(plain, list):
            raise TypeError(f"secrets.jsonl: parts and plain are lists, in {row['format']!r}")
        values = ["".join(pieces) for pieces in parts]
        template = str(row["text"])
        named = {int(digit) for digit in _PLACEHOLDER.findall(template)} if values else set()
        if named != set(range(len(values))):
            raise ValueError(f"secrets.jsonl: placeholders {sorted(named)} for {len(values)} values, {row['format']!r}")
        text = _fill(template, values) if values else template
        secrets = tuple(value for index, value in enumerate(values) if index not in plain)
        samples.append(SecretSample(str(row["format"]), text, secrets))
    return tuple(samples)


def load_mean_corpus() -> tuple[MeanRecord, ...]:
    """The records of the shipped corpus of the mean vector; their ids are only their places in the file."""
    return tuple(
        MeanRecord(str(row["lang"]), _memory(row, f"mean-{number:03d}"))
        for number, row in enumerate(_rows(MEAN_CORPUS), start=1)
    )


def load_coding_memories() -> tuple[SampleMemory, ...]:
    """What a developer's tools have remembered of eight projects and of the person's own ways."""
    return tuple(_memory(row, str(row["id"])) for row in _rows(DATA / "coding.jsonl"))


def load_prompts() -> tuple[Prompt, ...]:
    """Prompts to coding agents with the ids in ``coding.jsonl`` that bear on each.

    Raises:
        ValueError: a part is neither ``dev`` nor ``held``.
    """
    prompts = []
    for row in _rows(DATA / "prompts.jsonl"):
        part = row["part"]
        if part not in ("dev", "held"):
            raise ValueError(f"prompts.jsonl: unknown part {part!r}")
        words = (str(row["language"]), str(row["project"]), str(row["prompt"]))
        prompts.append(Prompt(part, *words, _strings(row, "expects")))
    return tuple(prompts)


def locomo_path() -> Path:
    """Where LoCoMo is expected: ``PERDURE_LOCOMO``, else ``../shared/data/locomo-dev.json`` beside the repository."""
    configured = os.environ.get("PERDURE_LOCOMO")
    return Path(configured) if configured else REPOSITORY.parent / "shared" / "data" / "locomo-dev.json"


def load_locomo(path: Path | None = None) -> tuple[LocomoConversation, ...] | None:
    """The conversations of LoCoMo as turns and questions, or None where the file is absent.

    A document is ``[date] speaker: text [shares caption]``. Evidence that names no turn is dropped, and a question that
    keeps none with it (counted in ``dropped_questions``). Questions of category 5 are included; leave them out where a
    protocol says so.

    Args:
        path: The file; by default ``locomo_path()``.

    Raises:
        TypeError: the file holds something else.
    """
    source = locomo_path() if path is None else path
    if not source.is_file():
        return None
    return tuple(_conversation(sample) for sample in json.loads(source.read_text(encoding="utf-8")))


def _conversation(sample: Mapping[str, object]) -> LocomoConversation:
    conversation = sample["conversation"]
    asked = sample["qa"]
    if not isinstance(conversation, dict) or not isinstance(asked, list):
        raise TypeError(f"not a LoCoMo sample: {sample.get('sample_id')!r}")
    sessions = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    turns = tuple(
        LocomoTurn(turn["dia_id"], number, _document(turn, conversation[f"session_{number}_date_time"]))
        for number in sessions
        for turn in conversation[f"session_{number}"]
    )
    known = {turn.dialog_id for turn in turns}
    questions = []
    for row in asked:
        evidence = tuple(
            dict.fromkeys(
                name
                for cell in row.get("evidence", ())
                for session, turn in _EVIDENCE.findall(cell)
                if (name := f"D{int(session)}:{int(turn)}") in known
            )
        )
        if evidence:
            questions.append(LocomoQuestion(str(row["question"]), int(row["category"]), evidence))
    return LocomoConversation(str(sample["sample_id"]), turns, tuple(questions), len(asked) - len(questions))


def _document(turn: Mapping[str, str], when: str) -> str:
    caption = turn.get("blip_caption")
    shared = f" [shares {caption}]" if caption else ""
    return f"[{when}] {turn['speaker']}: {turn['text']}{shared}"


def _fill(template: str, values: list[str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[int(match[1])], template)


def _rows(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _memory(row: Mapping[str, object], identifier: str) -> SampleMemory:
    kind = str(row["type"])
    if kind not in MEMORY_TYPES:
        raise ValueError(f"{identifier}: unknown type {kind!r}")
    created = row.get("created")
    return SampleMemory(
        id=identifier,
        type=kind,
        project=str(row["project"]),
        content=str(row["content"]),
        created=date.fromisoformat(str(created)) if created else None,
        problem=_optional(row, "problem"),
        solution=_optional(row, "solution"),
        key=_optional(row, "key"),
        files=_strings(row, "files"),
        concepts=_strings(row, "concepts"),
        tags=_strings(row, "tags"),
    )


def _optional(row: Mapping[str, object], name: str) -> str | None:
    value = row.get(name)
    return None if value is None else str(value)


def _strings(row: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = row.get(name, [])
    if not isinstance(value, list):
        raise TypeError(f"{name} is not a list: {value!r}")
    return tuple(str(item) for item in value)
