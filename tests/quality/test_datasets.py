"""The quality data is what the measurements take it for: ids resolve, sizes suffice, nothing leaks between the sets."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from quality.datasets import (
    DATA,
    LOCOMO_CATEGORIES,
    MEAN_CORPUS,
    RecallLanguage,
    SampleMemory,
    load_locomo,
    load_mean_corpus,
    load_pairs,
    load_recall_set,
    load_secrets,
    locomo_path,
)

LANGUAGES: tuple[RecallLanguage, ...] = ("en", "zh", "ja")
# Memories, answerable questions, questions without an answer: at least.
SIZES = {"en": (120, 90, 25), "zh": (70, 70, 0), "ja": (70, 70, 0)}
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def _texts(memory: SampleMemory) -> set[str]:
    return {_normal(text) for text in (memory.content, memory.problem, memory.solution) if text}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.requirement("QUALITY-01")
def test_a_recall_set_is_as_large_as_its_figures_need(language: RecallLanguage) -> None:
    recall = load_recall_set(language)
    assert len(recall.memories) >= SIZES[language][0]
    assert len(recall.answerable) >= SIZES[language][1]
    assert len(recall.negatives) >= SIZES[language][2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_expected_id_is_a_memory_and_ids_queries_and_contents_are_unique(language: RecallLanguage) -> None:
    recall = load_recall_set(language)
    ids = [memory.id for memory in recall.memories]
    assert len(set(ids)) == len(ids)
    assert {name for question in recall.questions for name in question.expects} <= set(ids)
    queries = [_normal(question.query) for question in recall.questions]
    assert [query for query, count in Counter(queries).items() if count > 1] == []
    contents = [_normal(memory.content) for memory in recall.memories]
    assert len(set(contents)) == len(contents)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_question_is_a_paraphrase_and_not_a_piece_of_its_memory(language: RecallLanguage) -> None:
    recall = load_recall_set(language)
    contents = [_normal(memory.content) for memory in recall.memories]
    # An identifier or an error message is asked for as it stands; a sentence must not be.
    limit = 60 if language == "en" else 12
    copied = [
        question.query
        for question in recall.questions
        if len(question.query) > limit and any(_normal(question.query) in content for content in contents)
    ]
    assert copied == []


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_at_least_a_quarter_of_the_cjk_questions_are_short_keywords(language: RecallLanguage) -> None:
    questions = load_recall_set(language).questions
    short = [question for question in questions if 2 <= len(question.query) <= 6]
    assert len(short) * 4 >= len(questions)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_recall_set_is_in_its_language(language: RecallLanguage) -> None:
    recall = load_recall_set(language)
    contents = [memory.content for memory in recall.memories]
    match language:
        case "en":
            assert not [text for text in contents if _HAN.search(text) or _KANA.search(text)]
        case "zh":
            assert all(_HAN.search(text) for text in contents)
            assert not [text for text in contents if _KANA.search(text)]
        case "ja":
            assert all(_KANA.search(text) for text in contents)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_recall_set_has_several_memories_of_every_type(language: RecallLanguage) -> None:
    counts = Counter(memory.type for memory in load_recall_set(language).memories)
    assert set(counts) == {"fact", "decision", "preference", "task", "context"}
    assert min(counts.values()) >= 5


def test_the_mean_corpus_gives_each_language_the_same_weight() -> None:
    records = load_mean_corpus()
    assert Counter(record.language for record in records) == {"en": 60, "zh": 60, "ja": 60, "code": 60}
    assert all(record.memory.created for record in records)
    contents = [_normal(record.memory.content) for record in records]
    assert len(set(contents)) == len(contents)


def test_the_mean_corpus_shares_no_text_project_or_run_of_words_with_what_is_measured() -> None:
    measured = [memory for language in LANGUAGES for memory in load_recall_set(language).memories]
    measured_texts = set().union(*(_texts(memory) for memory in measured))
    measured_projects = {memory.project for memory in measured}
    # 24 letters in a row are about five English words or a whole clause in Chinese and Japanese.
    runs = {text[start : start + 24] for text in measured_texts for start in range(len(text) - 23)}
    for record in load_mean_corpus():
        assert record.memory.project not in measured_projects
        for text in _texts(record.memory):
            assert not {text[start : start + 24] for start in range(len(text) - 23)} & runs, text


def test_the_pairs_cover_each_language_with_all_three_labels() -> None:
    pairs = load_pairs()
    assert len(pairs) >= 130
    by_language = Counter(pair.language for pair in pairs)
    assert set(by_language) == {"en", "zh", "ja", "de"}
    assert min(by_language.values()) >= 25
    assert min(Counter((pair.language, pair.label) for pair in pairs).values()) >= 7
    assert len({(pair.a, pair.b) for pair in pairs}) == len(pairs)
    assert not [pair for pair in pairs if pair.a == pair.b]


def test_the_secrets_cover_many_formats_and_as_many_look_alikes() -> None:
    samples = load_secrets()
    positives = [sample for sample in samples if sample.secrets]
    assert len(samples) >= 120
    assert len(positives) >= 60
    assert len({sample.format for sample in positives}) >= 45
    assert len(samples) - len(positives) >= 50
    assert len({sample.text for sample in samples}) == len(samples)


def test_every_secret_is_in_its_text_once_joined() -> None:
    for sample in load_secrets():
        for secret in sample.secrets:
            assert len(secret) >= 8
            assert sample.text.count(secret) == 1, sample.format


def test_no_secret_stands_whole_in_the_file() -> None:
    stored = (DATA / "secrets.jsonl").read_text(encoding="utf-8")
    assert [sample.format for sample in load_secrets() for secret in sample.secrets if secret in stored] == []


def test_the_files_hold_one_json_object_a_line_in_nfc() -> None:
    for path in (*sorted(DATA.glob("*.jsonl")), MEAN_CORPUS):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("}\n"), path.name
        assert unicodedata.is_normalized("NFC", text), path.name


@pytest.mark.requirement("QUALITY-02")
def test_locomo_is_none_where_the_file_is_absent(tmp_path: Path) -> None:
    assert load_locomo(tmp_path / "absent.json") is None


def test_the_environment_says_where_locomo_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERDURE_LOCOMO", str(tmp_path / "elsewhere.json"))
    assert locomo_path() == tmp_path / "elsewhere.json"
    assert load_locomo() is None


def test_locomo_turns_become_documents_and_evidence_that_names_no_turn_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    path.write_text(
        """[{"sample_id": "conv-1", "conversation": {
          "speaker_a": "Ada", "speaker_b": "Bo",
          "session_2_date_time": "9:00 am on 2 May, 2023", "session_2": [
            {"speaker": "Bo", "dia_id": "D2:1", "text": "It rained.", "blip_caption": "a wet street"}],
          "session_1_date_time": "8:00 am on 1 May, 2023", "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a canoe."}],
          "session_3_date_time": "no such session"},
         "qa": [
          {"question": "Both?", "category": 1, "evidence": ["D2:01; D1:1", "D1:1"]},
          {"question": "Malformed?", "category": 4, "evidence": ["D:1:1", "D7:3"]},
          {"question": "Nothing?", "category": 5, "evidence": []}]}]""",
        encoding="utf-8",
    )
    conversations = load_locomo(path)
    assert conversations is not None
    (conversation,) = conversations
    assert [turn.document for turn in conversation.turns] == [
        "[8:00 am on 1 May, 2023] Ada: I bought a canoe.",
        "[9:00 am on 2 May, 2023] Bo: It rained. [shares a wet street]",
    ]
    (question,) = conversation.questions
    assert question.evidence == ("D2:1", "D1:1")
    assert question.category_name == "multi-hop"
    assert conversation.dropped_questions == 2


def test_locomo_where_present_has_five_conversations_and_resolvable_evidence() -> None:
    conversations = load_locomo()
    if conversations is None:
        pytest.skip("LoCoMo is not here (set PERDURE_LOCOMO); its licence keeps it out of the repository")
    assert len(conversations) >= 5
    for conversation in conversations:
        known = {turn.dialog_id for turn in conversation.turns}
        assert len(known) == len(conversation.turns)
        assert all(set(question.evidence) <= known for question in conversation.questions)
        assert {question.category for question in conversation.questions} == set(LOCOMO_CATEGORIES)
