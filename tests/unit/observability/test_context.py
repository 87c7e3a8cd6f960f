"""Facts follow a request and end with it."""

from __future__ import annotations

import pytest
from structlog.contextvars import get_contextvars

from perdure.observability import context

TRACE = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


def test_what_is_bound_inside_ends_with_the_block_and_the_outer_returns():
    with context.bind(request_id="outer", traceparent=TRACE):
        with context.bind(request_id="inner", job_id="j"):
            assert context.request_id() == "inner"
            assert get_contextvars()["job_id"] == "j"
            assert context.traceparent() == TRACE
        assert context.request_id() == "outer"
        assert "job_id" not in get_contextvars()
    assert (context.request_id(), context.traceparent()) == ("", "")


def test_a_malformed_trace_parent_is_not_carried_on():
    with context.bind(traceparent="00-xyz\n"):
        assert context.traceparent() == ""


def test_clearing_forgets_everything():
    with context.bind(request_id="r", traceparent=TRACE):
        context.clear()
        assert (context.request_id(), context.traceparent()) == ("", "")


@pytest.mark.parametrize("text", ["a", "A-1_2.3:4", "f" * 64])
def test_a_harmless_request_id_is_kept(text):
    assert context.accepted_request_id(text) == text


@pytest.mark.parametrize("text", [None, "", "a b", "a\n", "é", "f" * 65, '"'])
def test_any_other_is_replaced(text):
    made = context.accepted_request_id(text)
    assert made != text
    assert len(made) == 16


def test_new_request_ids_differ():
    assert len({context.new_request_id() for _ in range(100)}) == 100
