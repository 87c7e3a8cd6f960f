"""Errors survive the wire, and a peer cannot make us raise anything that is not in the table."""

from __future__ import annotations

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import BY_CODE, Code, Internal, PerdureError, Reason, Unavailable
from perdure.rpc.model.v1 import model_pb2
from perdure.wire import errors
from perdure.wire.metadata import ERROR


class Failed:
    def __init__(self, status, trailing=()):
        self._status, self._trailing = status, trailing

    def code(self):
        return self._status

    def details(self):
        return "details of a stranger"

    def trailing_metadata(self):
        return self._trailing


def across(error):
    return errors.from_call(Failed(errors.status_of(error), errors.trailers(error)))


@pytest.mark.parametrize("code", list(Code))
@pytest.mark.requirement("SKEL-05")
def test_every_code_has_a_status_of_its_own_and_comes_back(code):
    error = BY_CODE[code](
        "A sentence.",
        reason=Reason.RATE,
        details={"field": "é", "n": 3, "share": 0.25, "yes": True},
        retry_after_s=1.5,
    )
    back = across(error)
    assert type(back) is BY_CODE[code]
    assert (back.message, back.reason, back.details, back.retry_after_s) == (
        error.message,
        error.reason,
        error.details,
        1.5,
    )
    assert len(set(errors.STATUS.values())) == len(Code)


def test_no_retry_time_is_not_a_retry_time_of_zero():
    assert across(Unavailable("x")).retry_after_s is None


def test_an_answer_of_unavailable_is_not_asked_for_again_by_grpc_itself():
    assert ("grpc-retry-pushback-ms", "-1") in errors.trailers(Unavailable("busy", reason=Reason.STORE_BUSY))
    assert len(errors.trailers(Internal("x"))) == 1


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (grpc.StatusCode.UNAVAILABLE, Code.UNAVAILABLE, Reason.SERVICE_AWAY),
        (grpc.StatusCode.CANCELLED, Code.UNAVAILABLE, Reason.SERVICE_AWAY),
        (grpc.StatusCode.DEADLINE_EXCEEDED, Code.DEADLINE_EXCEEDED, Reason.DEADLINE),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, Code.INVALID_ARGUMENT, Reason.TOO_LARGE),
        (grpc.StatusCode.UNIMPLEMENTED, Code.INTERNAL, Reason.UNEXPECTED),
        (grpc.StatusCode.UNKNOWN, Code.INTERNAL, Reason.UNEXPECTED),
        (grpc.StatusCode.INVALID_ARGUMENT, Code.INTERNAL, Reason.UNEXPECTED),
        (grpc.StatusCode.OK, Code.INTERNAL, Reason.UNEXPECTED),
    ],
)
def test_a_status_without_our_error_means_something_sensible(status, code, reason):
    error = errors.from_call(Failed(status))
    assert (error.code, error.reason) == (code, reason)
    assert "stranger" not in error.message


def info(**fields):
    return ((ERROR, model_pb2.ErrorInfo(**fields).SerializeToString()),)


def test_a_code_that_does_not_fit_the_status_is_not_believed():
    failed = Failed(grpc.StatusCode.UNAVAILABLE, info(code="unauthenticated", reason="token_invalid", message="hm"))
    assert errors.from_call(failed).reason is Reason.SERVICE_AWAY


@pytest.mark.parametrize("code", ["", "SystemExit", "__class__", "invalid"])
def test_an_unknown_code_builds_nothing(code):
    error = errors.from_call(Failed(grpc.StatusCode.NOT_FOUND, info(code=code, reason="x")))
    assert type(error) is Internal


def test_an_unknown_reason_is_unexpected_and_odd_details_are_left_out():
    details = {"list": "[1]", "broken": "{", "null": "null", "good": '"yes"', "deep": "[" * 3000}
    error = errors.from_call(Failed(grpc.StatusCode.NOT_FOUND, info(code="not_found", reason="new", details=details)))
    assert (error.reason, error.details) == (Reason.UNEXPECTED, {"good": "yes"})


def test_messages_and_details_are_bounded():
    error = across(Internal("x" * 5000, details={f"k{n}": "v" * 5000 for n in range(100)}))
    assert len(error.message) == 1000
    assert len(error.details) == 32
    assert max(len(str(value)) for value in error.details.values()) == 400


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=200), st.sampled_from(list(grpc.StatusCode)))
def test_bytes_of_a_stranger_become_an_error_of_ours(data, status):
    assert isinstance(errors.from_call(Failed(status, ((ERROR, data),))), PerdureError)


def test_the_error_for_the_unexpected_names_the_request_and_no_cause():
    error = errors.withheld("r-1")
    assert error.details == {"request_id": "r-1"}
    assert type(error) is Internal
