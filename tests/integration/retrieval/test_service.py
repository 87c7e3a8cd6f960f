"""The retrieval service over gRPC, with a real store and the embedding service beside it."""

from __future__ import annotations

from dataclasses import replace

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from perdure.domain.memory import Filter, Status
from perdure.domain.recall.answer import DenseSkip, Question
from perdure.domain.saving import Checkpoint, Edit, Outcome
from perdure.errors import (
    Conflict,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    Reason,
    Unauthenticated,
)
from support.memory_world import caller, draft
from support.retrieval_services import Services

NOWHERE = "00000000-0000-7000-8000-00000000dead"


def test_save_search_get_update_archive_restore_purge(services: Services) -> None:
    do, me = services.memories, services.me
    saved = do.save(me, draft("The billing service runs on Postgres", project="billing", tags=("db",)))
    assert (saved.outcome, saved.embedded) == (Outcome.CREATED, True)
    answer = do.search(me, Question(query="which database does billing run on", project="billing", depth=3))
    assert [hit.memory.id for hit in answer.recall] == [saved.id]
    assert answer.dense_ran
    assert {"query_vector", "dense", "lexical", "rank", "total"} <= set(answer.timings_ms)
    memory, embedded, _ = do.update(me, saved.id, Edit(content="The billing service runs on MariaDB"))
    assert (memory.revision, embedded) == (2, True)
    assert do.archive(me, saved.id).status is Status.ARCHIVED
    with pytest.raises(FailedPrecondition) as caught:
        do.archive(me, saved.id)
    assert caught.value.reason is Reason.ALREADY_ARCHIVED
    assert do.restore(me, saved.id).status is Status.ACTIVE
    assert [r.why for r in do.history(me, saved.id)[1]] == ["restored", "archived", "updated"]
    do.purge(me, saved.id)
    with pytest.raises(NotFound):
        do.get(me, saved.id)


def test_checkpoint_list_sync_and_stats(services: Services) -> None:
    do, me = services.memories, services.me
    do.checkpoint(me, Checkpoint(task_summary="Fixed login", problem="It raced", solution="Wait", files=("a.py",)))
    do.save(me, draft("Prefers tabs", type="preference", project="style"))
    first, cursor = do.list(me, Filter(), limit=1)
    rest, end = do.list(me, Filter(), limit=1, cursor=cursor)
    assert (len(first), len(rest), end) == (1, 1, "")
    briefing = do.sync(me)
    assert (briefing.active, briefing.embedder, len(briefing.recent)) == (2, "ready", 2)
    stats, space, size = do.stats(me)
    assert (stats.active, stats.total, dict(stats.by_type)) == (2, 2, {"fact": 1, "preference": 1})
    assert space
    assert size > 0


def test_a_batch_with_a_bad_item(services: Services) -> None:
    items = services.memories.save_many(services.me, [draft("One thing"), draft(""), draft("Two things")])
    assert [getattr(item, "reason", "") for item in items] == ["", "field_missing", ""]


def test_an_idempotency_key_over_the_wire(services: Services) -> None:
    do, me = services.memories, services.me
    first = do.save(me, draft("Once"), idempotency_key="k")
    assert do.save(me, draft("Once"), idempotency_key="k") == replace(first, replayed=True)
    with pytest.raises(Conflict) as caught:
        do.save(me, draft("Twice"), idempotency_key="k")
    assert caught.value.reason is Reason.IDEMPOTENCY_MISMATCH


def test_export_and_import_over_the_wire(services: Services) -> None:
    do, me = services.memories, services.me
    for number in range(30):
        do.save(me, draft(f"subject{number} predicate{number * 3} object{number * 7}"))
    exported = list(do.export(me, Filter(), every_status=True))
    services.access.create_namespace(me, "other")
    other = caller("other")
    report = do.import_(other, exported, dry_run=False)
    assert (report.read, report.created, report.failed) == (30, 30, 0)
    assert do.import_(other, exported, dry_run=False).unchanged == 30
    again = list(do.export(other, Filter(), every_status=True))
    assert [m.statement for m, _ in again] == [m.statement for m, _ in exported]


@pytest.mark.requirement("ACCESS-07")
def test_nothing_crosses_between_tenants(services: Services) -> None:
    do = services.memories
    services.access.create_namespace(services.me, "acme")
    acme = caller("acme", actor="token", scopes=frozenset({"read", "write"}))
    canary = do.save(acme, draft("canary-7421 lives in acme", key="canary"))
    for depth in (1, 2, 3):
        assert do.search(services.me, Question(query="canary-7421", depth=depth)).recognition == ()
    for act in (do.get, do.archive, do.restore, do.purge, do.history):
        with pytest.raises(NotFound) as caught:
            act(services.me, canary.id)
        with pytest.raises(NotFound) as nowhere:
            act(services.me, NOWHERE)
        assert (caught.value.message, caught.value.reason) == (nowhere.value.message, nowhere.value.reason)
    with pytest.raises(NotFound):
        do.update(services.me, canary.id, Edit(content="mine now"))
    assert list(do.export(services.me, Filter(), every_status=True)) == []
    assert do.stats(services.me)[0].total == 0
    assert do.save(services.me, draft("canary-7421 lives in acme", key="canary")).outcome is Outcome.CREATED


def test_tokens_over_the_wire(services: Services) -> None:
    token, secret = services.access.create_token(services.me, "acme", "laptop", create_namespace=True)
    who = services.access.authenticate(secret)
    assert (who.namespace, who.actor, who.scopes) == ("acme", token.id, {"read", "write"})
    with pytest.raises(PermissionDenied):
        services.access.create_token(who, "acme", "more")
    services.access.revoke_token(services.me, token.id)
    with pytest.raises(Unauthenticated) as caught:
        services.access.authenticate(secret)
    assert caught.value.reason is Reason.TOKEN_REVOKED
    acts = [event.act for event in services.access.audit(services.me)]
    assert acts == ["token.revoked", "token.created", "namespace.created"]


def test_bad_input_is_refused_by_name(services: Services) -> None:
    do, me = services.memories, services.me
    with pytest.raises(InvalidArgument):
        do.get(me, "no-id")
    with pytest.raises(InvalidArgument) as caught:
        do.list(me, Filter(), cursor="not a cursor")
    assert caught.value.reason is Reason.CURSOR_INVALID
    with pytest.raises(InvalidArgument) as caught:
        do.search(me, Question(query=" "))
    assert caught.value.details["field"] == "query"
    with pytest.raises(InvalidArgument) as caught:
        do.save(me, draft("x" * 40_000))
    assert caught.value.reason is Reason.TOO_LARGE


def test_without_the_embedding_service_everything_goes_on_by_words(services: Services) -> None:
    do, me = services.memories, services.me
    do.save(me, draft("The mill grinds rye"))
    services.stop_embedding()
    saved = do.save(me, draft("The zebra crossing is on Elm Street"))
    assert not saved.embedded
    answer = do.search(me, Question(query="zebra crossing"))
    assert [hit.memory.id for hit in answer.recall] == [saved.id]
    assert answer.dense_skipped is DenseSkip.EMBEDDER_AWAY
    assert do.sync(me).embedder == "failing"


@pytest.mark.requirement("JOB-06")
def test_the_last_counts_are_written_when_the_service_stops(services: Services) -> None:
    do, me = services.memories, services.me
    saved = do.save(me, draft("The mill grinds rye"))
    do.get(me, saved.id)
    services.stop_retrieval()
    services.start_retrieval()
    assert do.get(me, saved.id, peek=True).access_count == 1


def test_health_is_serving_once_the_store_is_open(services: Services) -> None:
    with grpc.insecure_channel(services.settings.target("retrieval")) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for name in ("", "perdure.rpc.retrieval.v1.MemoryService", "perdure.rpc.retrieval.v1.AccessService"):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_saves_and_searches_are_counted_without_naming_anybody(services: Services) -> None:
    do, me = services.memories, services.me
    do.save_many(me, [draft("The mill grinds rye"), draft("")])
    do.save(me, draft("The mill grinds rye"))
    do.search(me, Question(query="rye"))
    text = services.metrics()
    assert 'perdure_retrieval_saves_total{outcome="created"} 1.0' in text
    assert 'perdure_retrieval_saves_total{outcome="failed"} 1.0' in text
    assert 'perdure_retrieval_saves_total{outcome="unchanged"} 1.0' in text
    assert 'perdure_retrieval_searches_total{found="yes",skipped=""} 1.0' in text
    assert "mill" not in text
    assert "default" not in text
