"""The model on its way."""

from __future__ import annotations

import threading

import pytest

from perdure.embedding.cache import VectorCache
from perdure.embedding.engine import Engine
from perdure.embedding.loading import Loader, State
from perdure.errors import DataCorrupt, Reason, Unavailable
from support.embedding_fakes import SteeredProvider, metrics
from support.stack import wait_until


def engine() -> Engine:
    return Engine(SteeredProvider(), VectorCache(0), metrics())


def test_while_the_model_loads_calls_are_refused_with_a_time_to_come_back() -> None:
    gate = threading.Event()

    def load() -> Engine:
        assert gate.wait(20)
        return engine()

    seen: list[bool] = []
    loader = Loader(load, on_change=seen.append)
    loader.start()
    with pytest.raises(Unavailable) as caught:
        loader.engine()
    assert caught.value.reason is Reason.EMBEDDER_LOADING
    assert caught.value.retry_after_s
    assert loader.status.state is State.LOADING
    gate.set()
    wait_until(lambda: loader.status.state is State.READY, what="the model")
    assert loader.engine() is loader.status.engine
    assert seen == [True]
    loader.close()


def test_a_failed_load_is_named_and_tried_again_until_it_works() -> None:
    allowed = threading.Event()

    def load() -> Engine:
        if not allowed.is_set():
            raise DataCorrupt("The model's file is damaged.", reason=Reason.MODEL_CORRUPT)
        return engine()

    loader = Loader(load, retry_s=(0.01,))
    loader.start()
    wait_until(lambda: loader.status.state is State.FAILING, what="the failure")
    assert loader.status.detail == "The model's file is damaged."
    with pytest.raises(Unavailable) as caught:
        loader.engine()
    assert caught.value.reason is Reason.EMBEDDER_AWAY
    assert caught.value.details["cause"] == "model_corrupt"
    allowed.set()
    wait_until(lambda: loader.status.state is State.READY, what="the model")
    loader.close()


def test_a_defect_while_loading_is_a_failed_load_too() -> None:
    def load() -> Engine:
        raise ZeroDivisionError

    loader = Loader(load, retry_s=(0.01,))
    loader.start()
    wait_until(lambda: loader.status.state is State.FAILING, what="the failure")
    assert "ZeroDivisionError" in loader.status.detail
    loader.close()


def test_closing_ends_the_attempts_and_the_engine() -> None:
    provider = SteeredProvider()
    loader = Loader(lambda: Engine(provider, VectorCache(0), metrics()))
    loader.start()
    wait_until(lambda: loader.status.state is State.READY, what="the model")
    loader.close()
    assert provider.closed
    with pytest.raises(Unavailable):
        loader.engine()
