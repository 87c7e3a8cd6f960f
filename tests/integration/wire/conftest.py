"""A real server on a unix socket in a fresh folder, answered by servicers of the test."""

# ruff: noqa: N802 - gRPC names the methods

from __future__ import annotations

import threading

import numpy as np
import pytest

from perdure.domain.namespace import Caller, NamespaceName
from perdure.domain.recall.answer import Answer, Briefing
from perdure.domain.saving import Failure, ImportReport, Outcome, SaveResult
from perdure.errors import BY_CODE, Code, NotFound, Reason, Unavailable
from perdure.observability.metrics import Metrics
from perdure.ports import AuditEvent, Job, JobKind, JobState, Namespace, Page, Stats, Token
from perdure.rpc.embedding.v1 import embedding_pb2, embedding_pb2_grpc
from perdure.rpc.maintenance.v1 import maintenance_pb2, maintenance_pb2_grpc
from perdure.rpc.retrieval.v1 import access_pb2, access_pb2_grpc, memory_pb2, memory_pb2_grpc
from perdure.wire.convert import access, embedding, jobs, memory, recall, saving
from perdure.wire.deadline import time_left_s
from perdure.wire.metadata import caller_of
from perdure.wire.server import RpcServer
from support.wire_values import a_memory, a_space

MEMORY = "perdure.rpc.retrieval.v1.MemoryService"
MEMORY_TEXT = "canary-memory-text"


class Memories(memory_pb2_grpc.MemoryServiceServicer):
    """Answers with what it was asked, and counts."""

    def __init__(self):
        self.calls = []
        self.callers = []
        self.left_s = []
        self.entered = threading.Event()
        self.release = threading.Event()
        self.sent = 0

    def _seen(self, name, call):
        self.calls.append(name)
        self.callers.append(caller_of(call))
        self.left_s.append(time_left_s(call))

    def Get(self, request, call):
        self._seen("get", call)
        match request.id:
            case "boom":
                raise ValueError(MEMORY_TEXT)
            case "busy":
                raise Unavailable("The store is busy.", reason=Reason.STORE_BUSY, retry_after_s=2)
            case "hang":
                self.entered.set()
                self.release.wait(20)
            case text if text in Code.__members__:
                raise BY_CODE[Code[text]]("As asked.", details={"n": 1})
            case "none":
                raise NotFound("There is none.", reason=Reason.MEMORY_NOT_FOUND)
        return memory_pb2.GetResponse(memory=memory.memory_to_proto(a_memory()))

    def Save(self, request, call):
        self._seen("save", call)
        draft = saving.save_from_request(request)
        result = SaveResult(
            outcome=Outcome.CREATED,
            id=a_memory().id,
            project=draft.statement.project,
            summary=request.idempotency_key,
            revision=1,
            embedded=True,
        )
        return memory_pb2.SaveResponse(result=saving.result_to_proto(result))

    def SaveMany(self, request, call):
        self._seen("save_many", call)
        drafts = saving.save_many_from_request(request)
        return saving.results_to_response(
            [Failure(code="invalid_argument", reason="too_large", message="x")] * len(drafts)
        )

    def Checkpoint(self, request, call):
        self._seen("checkpoint", call)
        checkpoint = saving.checkpoint_from_request(request)
        result = SaveResult(
            outcome=Outcome.MERGED,
            id=a_memory().id,
            project=checkpoint.project,
            summary=checkpoint.task_summary,
            revision=2,
            embedded=False,
        )
        return memory_pb2.CheckpointResponse(result=saving.result_to_proto(result))

    def Update(self, request, call):
        self._seen("update", call)
        saving.update_from_request(request)
        return memory_pb2.UpdateResponse(memory=memory.memory_to_proto(a_memory()), embedded=True, redacted=["aws"])

    def Archive(self, request, call):
        self._seen("archive", call)
        return memory_pb2.ArchiveResponse(memory=memory.memory_to_proto(a_memory()))

    def Restore(self, request, call):
        self._seen("restore", call)
        return memory_pb2.RestoreResponse(memory=memory.memory_to_proto(a_memory()))

    def Purge(self, request, call):
        self._seen("purge", call)
        return memory_pb2.PurgeResponse(id=request.id)

    def List(self, request, call):
        self._seen("list", call)
        recall.list_from_request(request)
        return recall.page_to_response(Page((a_memory(1), a_memory(2)), None))

    def Search(self, request, call):
        self._seen("search", call)
        question = recall.question_from_proto(request)
        return recall.answer_to_proto(Answer(stage=question.depth, timings_ms={"total": 1.0}))

    def Sync(self, request, call):
        self._seen("sync", call)
        _, recent = recall.sync_from_request(request)
        return recall.briefing_to_proto(
            Briefing(active=recent, projects={"a": 1}, recent=(), embedder="ready", unembedded=0)
        )

    def Stats(self, request, call):
        self._seen("stats", call)
        counts = Stats(active=1, archived=2, superseded=3, consolidated=4, by_type={}, by_project={}, unembedded=0)
        return recall.stats_to_proto(counts, space="test-1", store_bytes=5)

    def History(self, request, call):
        self._seen("history", call)
        return recall.history_to_response(a_memory(), ())

    def Export(self, request, call):
        self._seen("export", call)
        _, history = saving.export_from_request(request)
        for number in range(1, 10_000):
            if not history and number == 4:
                raise Unavailable("Half way.", reason=Reason.STORE_BUSY)
            self.sent = number
            yield saving.export_response((a_memory(number), ()))

    def Import(self, requests, call):
        self._seen("import", call)
        dry_run, items = saving.import_from_requests(requests, caller_of(call).namespace)
        taken = sum(1 for _ in items)
        return saving.report_to_proto(ImportReport(read=taken, created=taken, dry_run=dry_run))


class Access(access_pb2_grpc.AccessServiceServicer):
    """Knows one token."""

    def Authenticate(self, request, call):
        if request.secret != "pdr_good":
            raise BY_CODE[Code.UNAUTHENTICATED]("No such token.", reason=Reason.TOKEN_INVALID)
        return access.caller_to_response(
            Caller(namespace=NamespaceName("team"), actor="good", scopes=frozenset({"read"}))
        )

    def CreateNamespace(self, request, call):
        return access_pb2.CreateNamespaceResponse(
            namespace=access.namespace_to_proto(Namespace(name=request.name, created_at=a_memory().created_at))
        )

    def ListNamespaces(self, request, call):
        one = Namespace(name=NamespaceName("team"), created_at=a_memory().created_at, memories=3)
        return access_pb2.ListNamespacesResponse(namespaces=[access.namespace_to_proto(one)])

    def _token(self, revoked=None):
        return access.token_to_proto(
            Token(
                id="good",
                namespace=NamespaceName("team"),
                name="n",
                secret_sha256="never sent",
                scopes=frozenset({"read"}),
                created_at=a_memory().created_at,
                revoked_at=revoked,
            )
        )

    def CreateToken(self, request, call):
        return access_pb2.CreateTokenResponse(token=self._token(), secret="pdr_good")

    def ListTokens(self, request, call):
        return access_pb2.ListTokensResponse(tokens=[self._token()])

    def RevokeToken(self, request, call):
        return access_pb2.RevokeTokenResponse(token=self._token(a_memory().created_at))

    def ListAudit(self, request, call):
        event = AuditEvent(at=a_memory().created_at, actor="a", namespace="team", act="token.created", subject="good")
        return access_pb2.ListAuditResponse(events=[access.event_to_proto(event)] * request.limit)


class Jobs(maintenance_pb2_grpc.MaintenanceServiceServicer):
    """Has one job."""

    def _job(self, kind=JobKind.REEMBED, state=JobState.RUNNING):
        return jobs.job_to_proto(
            Job(id="j1", kind=kind, state=state, created_at=a_memory().created_at, done=1, total=2)
        )

    def StartJob(self, request, call):
        kind, _ = jobs.start_from_request(request)
        return maintenance_pb2.StartJobResponse(job=self._job(kind), already_running=True)

    def ListJobs(self, request, call):
        return maintenance_pb2.ListJobsResponse(jobs=[self._job()])

    def GetJob(self, request, call):
        return maintenance_pb2.GetJobResponse(job=self._job())

    def CancelJob(self, request, call):
        return maintenance_pb2.CancelJobResponse(job=self._job(state=JobState.CANCELLED))


class Embedding(embedding_pb2_grpc.EmbeddingServiceServicer):
    """Answers unit vectors of one space, which the test may change."""

    def __init__(self):
        self.space = a_space()
        self.loading = False
        self.described = 0
        self.background = None

    def Embed(self, request, call):
        texts, _, self.background = embedding.embed_from_request(request)
        if self.loading:
            raise Unavailable("Loading.", reason=Reason.EMBEDDER_LOADING, retry_after_s=1)
        rows = np.eye(self.space.dimension, dtype=np.float32)
        return embedding_pb2.EmbedResponse(
            space=embedding.space_to_proto(self.space),
            vectors=[
                embedding.embedded(rows[n % len(rows)], truncated=n == 1, windows=1, cached=False)
                for n in range(len(texts))
            ],
        )

    def Describe(self, request, call):
        self.described += 1
        return embedding_pb2.DescribeResponse(space=embedding.space_to_proto(self.space), state="ready")


class World:
    """One server and its servicers; can be stopped and started again on the same address."""

    def __init__(self, listen, internal_token=""):
        self.listen, self.internal_token = listen, internal_token
        self.memories, self.access, self.jobs, self.embedding = Memories(), Access(), Jobs(), Embedding()
        self.metrics = Metrics("test")
        self.server = None
        self.start()

    def start(self):
        server = RpcServer(
            name="test",
            listen=self.listen,
            threads=8,
            internal_token=self.internal_token,
            metrics=self.metrics,
            takeover_s=0.2,
        )
        server.mount(memory_pb2_grpc.add_MemoryServiceServicer_to_server, self.memories, MEMORY)
        server.mount(access_pb2_grpc.add_AccessServiceServicer_to_server, self.access, "access")
        server.mount(maintenance_pb2_grpc.add_MaintenanceServiceServicer_to_server, self.jobs, "jobs")
        server.mount(
            embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server, self.embedding, "embedding", serving=False
        )
        server.start()
        self.server = server

    @property
    def target(self):
        return self.listen if self.server.port == 0 else f"127.0.0.1:{self.server.port}"

    def stop(self, grace_s=1.0):
        self.memories.release.set()
        self.server.stop(grace_s)


@pytest.fixture
def caller():
    return Caller(namespace=NamespaceName("team"), actor="tok", scopes=frozenset({"read", "write"}), request_id="r-1")


@pytest.fixture
def world(tmp_path):
    made = World(f"unix:{tmp_path}/s.sock")
    yield made
    made.stop()


@pytest.fixture
def tcp_world():
    made = World("127.0.0.1:0", internal_token="internal-s3cret")
    yield made
    made.stop()


@pytest.fixture
def make_world():
    return World
