"""Who calls survives the wire, and nothing is taken for granted of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.namespace import Caller, NamespaceName
from perdure.errors import InvalidArgument, Reason, Unauthenticated
from perdure.observability import context
from perdure.wire import metadata
from perdure.wire.deadline import DEFAULT_S, time_left_s


class Call:
    def __init__(self, pairs=(), left=None):
        self._pairs, self._left = pairs, left

    def invocation_metadata(self):
        return self._pairs

    def time_remaining(self):
        return self._left


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=40), st.frozensets(st.sampled_from(["read", "write", "admin"])))
def test_a_caller_arrives_as_it_was(actor, scopes):
    caller = Caller(namespace=NamespaceName("team-a"), actor=actor, scopes=scopes, request_id="r-1")
    pairs = metadata.outgoing(caller, internal_token="s3cret")
    assert all(value.isascii() and value.isprintable() and " " not in value for _, value in pairs)
    assert metadata.caller_of(Call(pairs)) == caller


def test_a_call_that_names_no_namespace_is_refused():
    with pytest.raises(Unauthenticated) as caught:
        metadata.caller_of(Call())
    assert caught.value.reason is Reason.TOKEN_MISSING


def test_a_malformed_namespace_is_refused():
    with pytest.raises(InvalidArgument):
        metadata.caller_of(Call(((metadata.NAMESPACE, "a b"),)))


def test_a_scope_this_version_does_not_know_opens_nothing():
    pairs = ((metadata.NAMESPACE, "a"), (metadata.SCOPES, "read,root,"))
    assert metadata.caller_of(Call(pairs)).scopes == {"read"}


def test_nothing_secret_is_sent_where_there_is_nothing():
    assert metadata.outgoing(None) == ()


def test_the_bound_request_and_trace_go_along_where_nobody_is_known_yet():
    trace = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
    with context.bind(request_id="r-9", traceparent=trace):
        assert dict(metadata.outgoing(None)) == {metadata.REQUEST_ID: "r-9", metadata.TRACEPARENT: trace}


def test_a_request_id_that_could_forge_a_log_line_is_replaced():
    pairs = ((metadata.NAMESPACE, "a"), (metadata.REQUEST_ID, "x\ny"))
    assert metadata.caller_of(Call(pairs)).request_id.isalnum()


@pytest.mark.parametrize(("left", "seconds"), [(None, DEFAULT_S), (1e12, DEFAULT_S), (2.5, 2.5), (-1.0, 0.0)])
def test_a_call_without_a_deadline_has_the_default(left, seconds):
    assert time_left_s(Call(left=left)) == seconds
