"""What is malformed is refused by name of its field, and nothing else is raised."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

import numpy as np
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.memory import Filter, Status
from perdure.domain.recall.answer import Question
from perdure.errors import FailedPrecondition, InvalidArgument, PerdureError, Reason
from perdure.ports import Position
from perdure.rpc.embedding.v1 import embedding_pb2
from perdure.rpc.maintenance.v1 import maintenance_pb2
from perdure.rpc.model.v1 import model_pb2
from perdure.rpc.retrieval.v1 import memory_pb2
from perdure.wire.convert import cursor, embedding, fields, jobs, memory, recall, saving
from support.wire_values import a_memory, a_space


def sent(**changes):
    message = memory.memory_to_proto(a_memory())
    for name, value in changes.items():
        if value is None:
            message.ClearField(name)
        elif isinstance(value, Timestamp):
            getattr(message, name).CopyFrom(value)
        else:
            setattr(message, name, value)
    return message


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", Reason.FIELD_MISSING),
        ("id", "7", Reason.FIELD_INVALID),
        ("id", "{01890a5d-ac96-774b-bcce-b302099a8057}", Reason.FIELD_INVALID),
        ("id", "01890a5dac96774bbcceb302099a8057", Reason.FIELD_INVALID),
        ("namespace", "../x", Reason.FIELD_INVALID),
        ("project", "", Reason.FIELD_MISSING),
        ("type", 0, Reason.FIELD_MISSING),
        ("type", 99, Reason.FIELD_INVALID),
        ("tier", 0, Reason.FIELD_MISSING),
        ("status", 0, Reason.FIELD_MISSING),
        ("provenance", 0, Reason.FIELD_MISSING),
        ("confidence", 1.5, Reason.OUT_OF_RANGE),
        ("confidence", float("nan"), Reason.OUT_OF_RANGE),
        ("importance", -0.1, Reason.OUT_OF_RANGE),
        ("access_count", -1, Reason.OUT_OF_RANGE),
        ("revision", 0, Reason.OUT_OF_RANGE),
        ("created_at", None, Reason.FIELD_MISSING),
        ("created_at", Timestamp(seconds=10**12), Reason.OUT_OF_RANGE),
        ("updated_at", Timestamp(nanos=-1), Reason.OUT_OF_RANGE),
        ("superseded_by", "x", Reason.FIELD_INVALID),
    ],
)
def test_a_malformed_field_of_a_memory_is_named(field, value, reason):
    with pytest.raises(InvalidArgument) as caught:
        memory.memory_from_proto(sent(**{field: value}))
    assert (caught.value.reason, caught.value.details["field"]) == (reason, field)


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(InvalidArgument) as caught:
        memory.filter_to_proto(Filter(created_from=datetime(2026, 1, 1)))  # noqa: DTZ001 - the point of the test
    assert caught.value.details["field"] == "created_from"


def test_an_id_in_capitals_is_the_same_id():
    assert fields.memory_id("01890A5D-AC96-774B-BCCE-B302099A8057") == "01890a5d-ac96-774b-bcce-b302099a8057"


def test_what_is_finer_than_a_microsecond_is_cut():
    assert fields.moment(Timestamp(seconds=1, nanos=1999), "at") == datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)


def test_lone_surrogates_are_replaced_because_nothing_can_carry_them():
    assert fields.text("a\ud800b\U0001f600é") == "a�b\U0001f600é"
    assert fields.text("\ud83d\ude00") == "\U0001f600"


@pytest.mark.parametrize(("name", "value"), [("depth", 4), ("limit", 51), ("depth", 0), ("limit", -1)])
def test_a_question_out_of_range_is_refused_before_it_is_sent(name, value):
    with pytest.raises(InvalidArgument) as caught:
        recall.question_to_proto(Question(query="x", **{name: value}))
    assert caught.value.details["field"] == name


def test_zeros_of_a_request_mean_its_defaults():
    question = recall.question_from_proto(memory_pb2.SearchRequest(query="x"))
    assert (question.depth, question.limit, question.project) == (2, 5, None)
    assert question.filter.statuses == (Status.ACTIVE,)
    assert recall.list_from_request(memory_pb2.ListRequest())[1:] == (50, None)
    assert recall.sync_from_request(memory_pb2.SyncRequest()) == (None, 10)
    assert jobs.list_from_request(maintenance_pb2.ListJobsRequest()) == (None, 50)


def test_an_unknown_name_to_clear_is_refused():
    with pytest.raises(InvalidArgument) as caught:
        saving.update_from_request(memory_pb2.UpdateRequest(id=a_memory().id, clear=["content"]))
    assert caught.value.reason is Reason.FIELD_UNKNOWN


def test_a_batch_over_500_is_refused():
    with pytest.raises(InvalidArgument) as caught:
        saving.save_many_from_request(memory_pb2.SaveManyRequest(drafts=[model_pb2.Draft()] * 501))
    assert caught.value.reason is Reason.TOO_LARGE


def test_no_status_at_all_is_every_status_and_not_active_only():
    assert set(memory.filter_from_proto(memory.filter_to_proto(Filter(statuses=()))).statuses) == set(Status)


def test_an_export_of_every_status_is_not_narrowed_by_the_filters_default():
    request = saving.export_request(Filter(), every_status=True, without_history=False)
    filter_, history = saving.export_from_request(request)
    assert set(filter_.statuses) == set(Status)
    assert history
    narrow = saving.export_request(Filter(statuses=(Status.ARCHIVED,)), every_status=True, without_history=True)
    assert saving.export_from_request(narrow)[0].statuses == (Status.ARCHIVED,)


def test_an_imported_memory_moves_into_the_callers_namespace_and_no_other():
    request = saving.import_request((a_memory(namespace="theirs"), ()), dry_run=True)
    dry_run, items = saving.import_from_requests(iter([request]), "ours")
    assert dry_run
    assert [item.namespace for item, _ in items] == ["ours"]
    assert saving.import_from_requests(iter([]), "ours")[0] is False


@pytest.mark.parametrize("text", ["x", "AAAA", "é", "A" * 34, "AQ" * 17 + "=", "\ud800", " ", "a" * 10_000])
def test_a_cursor_that_is_not_ours_is_refused(text):
    with pytest.raises(InvalidArgument) as caught:
        cursor.position_of(text)
    assert caught.value.reason is Reason.CURSOR_INVALID


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_no_text_makes_a_cursor_fail_in_another_way(text):
    try:
        position = cursor.position_of(text)
    except InvalidArgument as error:
        assert error.reason is Reason.CURSOR_INVALID
    else:
        assert text == "" if position is None else isinstance(position, Position)


def test_a_cursor_says_nothing_readable_and_fits_a_url():
    text = cursor.cursor_of(Position(a_memory().created_at, a_memory().id))
    assert len(text) == 34
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=120))
def test_bytes_of_a_stranger_raise_nothing_but_errors_of_ours(data):
    for parse, convert in (
        (model_pb2.Memory, memory.memory_from_proto),
        (model_pb2.Filter, memory.filter_from_proto),
        (memory_pb2.UpdateRequest, saving.update_from_request),
        (memory_pb2.SearchResponse, recall.answer_from_proto),
        (embedding_pb2.Space, embedding.space_from_proto),
    ):
        try:
            message = parse.FromString(data)
        except Exception:  # not a message at all: gRPC's business
            continue
        with contextlib.suppress(PerdureError):
            convert(message)


def answer(space, vectors):
    return embedding_pb2.EmbedResponse(
        space=embedding.space_to_proto(space),
        vectors=[embedding_pb2.Embedded(vector=vector, windows=1) for vector in vectors],
    )


def test_vectors_arrive_in_order_as_one_matrix():
    rows = np.eye(4, dtype=np.float32)[:3]
    found = embedding.embeddings_from_response(
        answer(a_space(), [row.tobytes() for row in rows]), count=3, known=a_space()
    )
    assert found.vectors.dtype == np.float32
    assert np.array_equal(found.vectors, rows)


@pytest.mark.parametrize(
    "vectors",
    [[], [b"1234"], [b"\0" * 16] * 2, [np.array([1, 2, 3, np.nan], dtype="<f4").tobytes()]],
    ids=["none", "short", "too many", "nan"],
)
def test_vectors_that_do_not_fit_are_refused(vectors):
    with pytest.raises(InvalidArgument) as caught:
        embedding.embeddings_from_response(answer(a_space(), vectors), count=1, known=None)
    assert caught.value.reason is Reason.VECTOR_INVALID


def test_a_space_whose_facts_do_not_make_its_fingerprint_is_refused():
    message = embedding.space_to_proto(a_space())
    message.pooling = "cls"
    with pytest.raises(FailedPrecondition) as caught:
        embedding.space_from_proto(message)
    assert caught.value.reason is Reason.SPACE_MISMATCH


def test_more_texts_than_one_call_takes_are_refused():
    with pytest.raises(InvalidArgument):
        embedding.embed_request(["x"] * 257, embedding.TextKind.DOCUMENT, background=False)
