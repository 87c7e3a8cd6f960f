"""Every method of every client, against a real server: values go out and come back, errors keep their kind."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from perdure.domain.memory import Filter
from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Question
from perdure.domain.saving import Checkpoint, Draft, Edit, Failure, Outcome
from perdure.errors import BY_CODE, Code, Internal, InvalidArgument, PerdureError, Reason, Unauthenticated, Unavailable
from perdure.observability import context
from perdure.ports import JobKind, JobState
from perdure.rpc.model.v1 import model_pb2
from perdure.rpc.retrieval.v1 import memory_pb2
from perdure.wire.aio import AsyncAccessClient, AsyncHealth, AsyncJobsClient, AsyncMemoryClient
from perdure.wire.clients import AccessClient, EmbeddingClient, JobsClient, MemoryClient
from support.wire_values import a_memory, a_space

DRAFT = Draft(statement=a_memory().statement)
CHECKPOINT = Checkpoint(task_summary="Done.", problem="p", solution="s", project="web")


class Waiting:
    """Makes a sync client look like an async one, so that both pass the same tests."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        method = getattr(self._client, name)

        async def call(*args, **options):
            return method(*args, **options)

        return call


@contextlib.asynccontextmanager
async def opened(kind, sync, aio, target):
    if kind == "sync":
        with sync(target) as client:
            yield Waiting(client)
    else:
        async with aio(target) as client:
            yield client


@pytest.fixture(params=["sync", "aio"])
def kind(request):
    return request.param


async def test_every_method_of_the_memory_client(world, caller, kind):
    id_ = a_memory().id
    async with opened(kind, MemoryClient, AsyncMemoryClient, world.target) as client:
        saved = await client.save(caller, DRAFT, idempotency_key="k")
        assert (saved.outcome, saved.summary) == (Outcome.CREATED, "k")
        assert (
            await client.save_many(caller, [DRAFT, DRAFT])
            == (Failure(code="invalid_argument", reason="too_large", message="x"),) * 2
        )
        assert (await client.checkpoint(caller, CHECKPOINT)).project == "web"
        assert await client.get(caller, id_, peek=True) == a_memory()
        assert await client.update(caller, id_, Edit(content="new")) == (a_memory(), True, ("aws",))
        assert await client.archive(caller, id_, expected_revision=1) == a_memory()
        assert await client.restore(caller, id_) == a_memory()
        assert await client.purge(caller, id_) is None
        memories, following = await client.list(caller, Filter(), limit=2, cursor="")
        assert (memories, following) == ((a_memory(1), a_memory(2)), "")
        assert (await client.search(caller, Question(query="x", depth=3))).stage == 3
        assert (await client.sync(caller, project="a", recent=7)).active == 7
        counts, space, store_bytes = await client.stats(caller)
        assert (counts.total, space, store_bytes) == (10, "test-1", 5)
        assert await client.history(caller, id_) == (a_memory(), ())
    assert set(world.memories.callers) == {caller}
    assert len(world.memories.calls) == 13


async def test_every_method_of_the_access_client(world, caller, kind):
    async with opened(kind, AccessClient, AsyncAccessClient, world.target) as client:
        with context.bind(request_id="r-7"):
            known = await client.authenticate("pdr_good")
        assert known == Caller(namespace="team", actor="good", scopes=frozenset({"read"}), request_id="r-7")
        with pytest.raises(Unauthenticated) as caught:
            await client.authenticate("pdr_bad")
        assert caught.value.reason is Reason.TOKEN_INVALID
        assert (await client.create_namespace(caller, "new")).name == "new"
        assert [one.memories for one in await client.namespaces(caller)] == [3]
        token, secret = await client.create_token(caller, "team", "n", scopes=["read"], create_namespace=True)
        assert (token.id, secret, token.secret_sha256) == ("good", "pdr_good", "")
        assert await client.tokens(caller, "team") == (token,)
        assert (await client.revoke_token(caller, "good")).revoked_at == a_memory().created_at
        assert len(await client.audit(caller, limit=3)) == 3


async def test_every_method_of_the_jobs_client(world, caller, kind):
    async with opened(kind, JobsClient, AsyncJobsClient, world.target) as client:
        job, running = await client.start(caller, JobKind.EMBED_PENDING, {"a": "b"})
        assert (job.kind, running) == (JobKind.EMBED_PENDING, True)
        assert [one.id for one in await client.list(caller, JobKind.REEMBED)] == ["j1"]
        assert (await client.get(caller, "j1")).done == 1
        assert (await client.cancel(caller, "j1")).state is JobState.CANCELLED


@pytest.mark.parametrize("code", [code for code in Code if code is not Code.INTERNAL])
async def test_an_error_keeps_its_kind(world, caller, kind, code):
    async with opened(kind, MemoryClient, AsyncMemoryClient, world.target) as client:
        with pytest.raises(BY_CODE[code]) as caught:
            await client.get(caller, code.name)
    assert (caught.value.message, caught.value.details) == ("As asked.", {"n": 1})


async def test_the_unexpected_is_internal_and_its_cause_withheld(world, caller, kind):
    async with opened(kind, MemoryClient, AsyncMemoryClient, world.target) as client:
        with pytest.raises(Internal) as caught:
            await client.get(caller, "boom")
    assert "canary" not in str(caught.value)
    assert caught.value.details == {"request_id": "r-1"}


async def test_an_answer_of_unavailable_is_asked_for_once(world, caller, kind):
    async with opened(kind, MemoryClient, AsyncMemoryClient, world.target) as client:
        with pytest.raises(Unavailable) as caught:
            await client.get(caller, "busy")
    assert (caught.value.reason, caught.value.retry_after_s) == (Reason.STORE_BUSY, 2.0)
    assert world.memories.calls == ["get"]


async def test_the_time_left_goes_along(world, caller, kind):
    async with opened(kind, MemoryClient, AsyncMemoryClient, world.target) as client:
        await client.get(caller, a_memory().id, timeout_s=5)
        with pytest.raises(PerdureError) as caught:
            await client.get(caller, "hang", timeout_s=0.2)
    assert caught.value.code is Code.DEADLINE_EXCEEDED
    assert 0 < world.memories.left_s[0] < 6  # gRPC rounds up


async def test_a_text_no_encoding_carries_does_not_break_a_save(world, caller, kind):
    draft = Draft(statement=type(DRAFT.statement)(content="a\ud800b"))
    async with opened(kind, MemoryClient, AsyncMemoryClient, world.target) as client:
        assert (await client.save(caller, draft)).outcome is Outcome.CREATED


async def items(count, fail_at=None):
    for number in range(1, count + 1):
        if number == fail_at:
            raise InvalidArgument("Line 3 is no memory.", reason=Reason.BODY_MALFORMED)
        yield a_memory(number), ()


async def test_an_import_streams_and_reports(world, caller):
    async with AsyncMemoryClient(world.target) as client:
        report = await client.import_(caller, items(300), dry_run=True)
    assert (report.read, report.dry_run) == (300, True)


async def test_what_the_items_of_an_import_raise_is_raised(world, caller):
    async with AsyncMemoryClient(world.target) as client:
        with pytest.raises(InvalidArgument) as caught:
            await client.import_(caller, items(10, fail_at=3), dry_run=False)
    assert caught.value.reason is Reason.BODY_MALFORMED


def test_the_sync_import_says_the_same(world, caller):
    def broken():
        yield a_memory(1), ()
        raise InvalidArgument("Line 2 is no memory.", reason=Reason.BODY_MALFORMED)

    with MemoryClient(world.target) as client:
        assert client.import_(caller, [(a_memory(1), ())] * 5, dry_run=False).read == 5
        with pytest.raises(InvalidArgument) as caught:
            client.import_(caller, broken(), dry_run=False)
    assert caught.value.reason is Reason.BODY_MALFORMED


async def test_an_export_that_is_left_early_ends_on_the_server_too(world, caller):
    taken = []
    async with (
        AsyncMemoryClient(world.target) as client,
        contextlib.aclosing(client.export(caller, Filter())) as stream,
    ):
        async for memory, revisions in stream:
            taken.append((memory, revisions))
            if len(taken) == 3:
                break
    assert taken == [(a_memory(number), ()) for number in (1, 2, 3)]
    with MemoryClient(world.target) as client:
        for count, (memory, _) in enumerate(client.export(caller, Filter()), 1):
            assert memory == a_memory(count)
            if count == 3:
                break
    assert world.memories.sent < 9_999


async def test_an_export_that_fails_half_way_says_so(world, caller, kind):
    taken = []
    if kind == "aio":
        async with AsyncMemoryClient(world.target) as client:
            with pytest.raises(Unavailable):
                async for item in client.export(caller, Filter(), without_history=True):
                    taken.append(item)
    else:
        with MemoryClient(world.target) as client, pytest.raises(Unavailable):
            taken.extend(client.export(caller, Filter(), without_history=True))
    assert len(taken) <= 3


async def test_health_is_told_by_service(world):
    async with AsyncHealth(world.target) as health:
        assert await health.check()
        assert not await health.check("embedding")
        world.server.set_serving(True, "embedding")
        assert await health.check("embedding")
        assert not await health.check("unknown")


async def test_a_service_that_is_away_is_not_healthy(tmp_path):
    async with AsyncHealth(f"unix:{tmp_path}/none.sock", timeout_s=0.3) as health:
        assert not await health.check()


def test_the_embedding_client_is_an_embedder(world):
    with EmbeddingClient(world.target) as client:
        assert client.space() == client.space() == a_space()
        assert world.embedding.described == 1
        found = client.documents(["a", "b", "c"], timeout_s=5, background=True)
        assert (found.vectors.shape, found.vectors.dtype) == ((3, 4), np.float32)
        assert found.truncated == (False, True, False)
        assert world.embedding.background is True
        assert client.query("q", timeout_s=5).vectors.shape == (1, 4)
        assert client.describe()[1] == "ready"


def test_another_space_is_noticed_with_the_first_answer_in_it(world):
    with EmbeddingClient(world.target) as client:
        client.space()
        world.embedding.space = a_space(8, "other")
        assert client.query("q", timeout_s=5).space == a_space(8, "other")
        assert client.space() == a_space(8, "other")
        assert world.embedding.described == 1


def test_a_loading_embedder_is_told_from_one_that_is_away(world, tmp_path):
    world.embedding.loading = True
    with EmbeddingClient(world.target) as client, pytest.raises(Unavailable) as loading:
        client.query("q", timeout_s=5)
    assert loading.value.reason is Reason.EMBEDDER_LOADING
    with EmbeddingClient(f"unix:{tmp_path}/none.sock") as client, pytest.raises(Unavailable) as away:
        client.query("q", timeout_s=5)
    assert away.value.reason is Reason.EMBEDDER_AWAY


def test_an_answer_that_makes_no_sense_is_not_the_callers_fault(world, caller, monkeypatch):
    broken = memory_pb2.GetResponse(memory=model_pb2.Memory(id="x", project="p"))
    monkeypatch.setattr(world.memories, "Get", lambda *_: broken, raising=True)
    world.stop()
    world.start()
    with MemoryClient(world.target) as client, pytest.raises(Internal):
        client.get(caller, a_memory().id)
