"""What goes over the wire arrives as it was, for every value its type allows."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure.domain.namespace import Caller, NamespaceName
from perdure.domain.saving import Failure
from perdure.ports import Page
from perdure.rpc.model.v1 import model_pb2
from perdure.rpc.retrieval.v1 import memory_pb2
from perdure.wire.convert import access, cursor, embedding, jobs, memory, recall, saving
from support import wire_values as values

few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@few
@given(values.memories)
def test_a_memory_arrives_as_it_was(value):
    sent = memory.memory_to_proto(value).SerializeToString()
    assert memory.memory_from_proto(model_pb2.Memory.FromString(sent)) == value


@few
@given(values.revisions)
def test_a_revision_arrives_as_it_was(value):
    assert memory.revision_from_proto(memory.revision_to_proto(value)) == value


@few
@given(values.filters)
def test_a_filter_arrives_as_it_was(value):
    assert memory.filter_from_proto(memory.filter_to_proto(value)) == value


@few
@given(values.drafts, st.text(max_size=20))
def test_a_draft_arrives_as_it_was(value, key):
    request = memory_pb2.SaveRequest.FromString(saving.save_request(value, key).SerializeToString())
    assert saving.save_from_request(request) == value
    assert request.idempotency_key == key


@few
@given(st.lists(values.drafts, max_size=3))
def test_a_batch_arrives_as_it_was(drafts):
    assert saving.save_many_from_request(saving.save_many_request(drafts, None)) == tuple(drafts)


@few
@given(values.checkpoints)
def test_a_checkpoint_arrives_as_it_was(value):
    assert saving.checkpoint_from_request(saving.checkpoint_request(value, None)) == value


@few
@given(values.memory_ids, values.edits)
def test_an_edit_arrives_as_it_was(id_, value):
    sent = saving.update_request(id_, value).SerializeToString()
    assert saving.update_from_request(memory_pb2.UpdateRequest.FromString(sent)) == (id_, value)


@few
@given(values.save_results)
def test_the_result_of_a_save_arrives_as_it_was(value):
    assert saving.result_from_proto(saving.result_to_proto(value)) == value


@few
@given(st.lists(values.save_results | values.failures, max_size=4))
def test_the_results_of_a_batch_arrive_in_order(results):
    assert saving.results_from_response(saving.results_to_response(results)) == tuple(results)


@few
@given(values.reports)
def test_the_report_of_an_import_arrives_as_it_was(value):
    assert saving.report_from_proto(saving.report_to_proto(value)) == value


@few
@given(values.memories, st.lists(values.revisions, max_size=2))
def test_an_exported_memory_arrives_with_its_history(value, revisions):
    item = (value, tuple(revisions))
    assert saving.export_item(saving.export_response(item)) == item


@few
@given(values.questions)
def test_a_question_arrives_as_it_was(value):
    assert recall.question_from_proto(recall.question_to_proto(value)) == value


@few
@given(values.answers)
def test_an_answer_arrives_as_it_was(value):
    sent = recall.answer_to_proto(value).SerializeToString()
    assert recall.answer_from_proto(memory_pb2.SearchResponse.FromString(sent)) == value


@few
@given(values.briefings)
def test_a_briefing_arrives_as_it_was(value):
    read = recall.briefing_from_proto(recall.briefing_to_proto(value))
    assert read == value
    assert list(read.projects) == list(value.projects)


@few
@given(values.stats, st.none() | st.just("test-0123"), st.integers(0, 2**50))
def test_counts_arrive_as_they_were(value, space, store_bytes):
    message = recall.stats_to_proto(value, space=space, store_bytes=store_bytes)
    assert message.total == value.total
    assert recall.stats_from_proto(message) == (value, space or "", store_bytes)


@few
@given(st.lists(values.memories, max_size=2), st.none() | values.positions)
def test_a_page_arrives_with_the_way_to_the_next(memories, position):
    read, next_cursor = recall.page_from_response(recall.page_to_response(Page(tuple(memories), position)))
    assert read == tuple(memories)
    assert cursor.position_of(next_cursor) == position


@few
@given(values.jobs)
def test_a_job_arrives_as_it_was(value):
    assert jobs.job_from_proto(jobs.job_to_proto(value)) == value


@few
@given(values.listed_namespaces, values.tokens, values.events)
def test_namespaces_tokens_and_events_arrive_as_they_were(namespace, token, event):
    assert access.namespace_from_proto(access.namespace_to_proto(namespace)) == namespace
    assert access.token_from_proto(access.token_to_proto(token)) == token
    assert access.event_from_proto(access.event_to_proto(event)) == event


@few
@given(values.spaces)
def test_a_space_arrives_as_it_was(value):
    read = embedding.space_from_proto(embedding.space_to_proto(value))
    assert (read, read.fingerprint) == (value, value.fingerprint)


def test_a_caller_arrives_as_it_was():
    caller = Caller(namespace=NamespaceName("a"), actor="tok123", scopes=frozenset({"read"}), request_id="r")
    assert access.caller_from_response(access.caller_to_response(caller), request_id="r") == caller


def test_one_unreadable_draft_spoils_no_other():
    good = saving.draft_to_proto(_draft())
    request = memory_pb2.SaveManyRequest(drafts=[good, model_pb2.Draft(content="no type"), good])
    first, second, third = saving.save_many_from_request(request)
    assert (first, third) == (_draft(), _draft())
    assert second == Failure(
        code="invalid_argument",
        reason="field_missing",
        message="type is one of: fact, decision, preference, task, context.",
    )


def _draft():
    return saving.Draft(statement=values.a_memory().statement)
