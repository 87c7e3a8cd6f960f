"""Clients for threads: they speak domain values, raise Perdure's errors, and take the caller first.

The embedding client is the port ``Embedder``; the others serve the command line and tests. The gateway's: ``aio``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Self

from perdure.domain.memory import Filter, Memory, MemoryId, Revision
from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Answer, Briefing, Question
from perdure.domain.saving import Checkpoint, Draft, Edit, Failure, ImportReport, SaveResult
from perdure.domain.vectors import Space
from perdure.errors import PerdureError, Reason, Unavailable
from perdure.observability import context
from perdure.ports import AuditEvent, Embeddings, Job, JobKind, Namespace, Stats, Token
from perdure.rpc.embedding.v1 import embedding_pb2, embedding_pb2_grpc
from perdure.rpc.maintenance.v1 import maintenance_pb2, maintenance_pb2_grpc
from perdure.rpc.retrieval.v1 import access_pb2, access_pb2_grpc, memory_pb2, memory_pb2_grpc
from perdure.wire.calling import CALL_S, STREAM_S, Feed, Link, understood
from perdure.wire.convert import access, embedding, fields, jobs, recall, saving
from perdure.wire.convert.memory import memory_from_proto

DESCRIBE_S = 5.0
"""Time for a question about the space."""


class _Client:
    """A link and its end."""

    def __init__(
        self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S, retry_once: bool = False
    ) -> None:
        self._link = Link(target, internal_token=internal_token, timeout_s=timeout_s, retry_once=retry_once)

    def close(self) -> None:
        """Lets go of the connection."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class EmbeddingClient(_Client):
    """The embedding service, as the port ``Embedder``. Safe for many threads.

    Does not wait long for a service that is away: its callers have something else to do meanwhile.

    Args:
        target: ``unix:/path`` or ``host:port``.
        internal_token: The services' shared secret; empty on a unix socket.
    """

    def __init__(self, target: str, *, internal_token: str = "") -> None:
        super().__init__(target, internal_token=internal_token, retry_once=True)
        self._stub = embedding_pb2_grpc.EmbeddingServiceStub(self._link.channel)
        self._space: Space | None = None

    def space(self) -> Space:
        """The space it answers in; the one last seen, until an answer shows another.

        Raises:
            Unavailable: the model is loading or the service is away.
        """
        return self._space or self.describe()[0]

    def describe(self, *, timeout_s: float = DESCRIBE_S) -> tuple[Space, str, str]:
        """The space, the state (ready, loading, failing) and a detail, asked afresh.

        Raises:
            Unavailable: the model is loading or the service is away.
        """
        with _embedder_away():
            response: embedding_pb2.DescribeResponse = self._link.call(
                self._stub.Describe, embedding_pb2.DescribeRequest(), None, timeout_s
            )
        self._space = understood(lambda: embedding.space_from_proto(response.space))
        return self._space, response.state, response.detail

    def documents(self, texts: Sequence[str], *, timeout_s: float, background: bool = False) -> Embeddings:
        """Vectors of stored texts; at most 256.

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
            InvalidArgument: more than 256 texts.
        """
        return self._embed(texts, embedding.TextKind.DOCUMENT, timeout_s, background=background)

    def query(self, text: str, *, timeout_s: float) -> Embeddings:
        """The vector of a question, shape (1, dimension).

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
        """
        return self._embed((text,), embedding.TextKind.QUERY, timeout_s, background=False)

    def questions(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        """Vectors of questions; at most 256. They yield to every other caller.

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
            InvalidArgument: more than 256 texts.
        """
        return self._embed(texts, embedding.TextKind.QUERY, timeout_s, background=True)

    def _embed(
        self, texts: Sequence[str], kind: embedding.TextKind, timeout_s: float, *, background: bool
    ) -> Embeddings:
        request = embedding.embed_request(texts, kind, background=background)
        with _embedder_away():
            response: embedding_pb2.EmbedResponse = self._link.call(self._stub.Embed, request, None, timeout_s)
        found = understood(lambda: embedding.embeddings_from_response(response, count=len(texts), known=self._space))
        self._space = found.space
        return found


class MemoryClient(_Client):
    """Memories of the caller's namespace; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = memory_pb2_grpc.MemoryServiceStub(self._link.channel)

    def save(
        self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None, timeout_s: float | None = None
    ) -> SaveResult:
        """What became of ``draft``."""
        response: memory_pb2.SaveResponse = self._link.call(
            self._stub.Save, saving.save_request(draft, idempotency_key), caller, timeout_s
        )
        return understood(lambda: saving.result_from_proto(response.result))

    def save_many(
        self,
        caller: Caller,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        timeout_s: float | None = None,
    ) -> tuple[SaveResult | Failure, ...]:
        """What became of each of up to 500 ``drafts``, in their order."""
        response: memory_pb2.SaveManyResponse = self._link.call(
            self._stub.SaveMany, saving.save_many_request(drafts, idempotency_key), caller, timeout_s
        )
        return understood(lambda: saving.results_from_response(response))

    def checkpoint(
        self,
        caller: Caller,
        checkpoint: Checkpoint,
        *,
        idempotency_key: str | None = None,
        timeout_s: float | None = None,
    ) -> SaveResult:
        """What became of ``checkpoint``."""
        response: memory_pb2.CheckpointResponse = self._link.call(
            self._stub.Checkpoint, saving.checkpoint_request(checkpoint, idempotency_key), caller, timeout_s
        )
        return understood(lambda: saving.result_from_proto(response.result))

    def get(self, caller: Caller, id: str, *, peek: bool = False, timeout_s: float | None = None) -> Memory:
        """The memory, whatever its status; ``peek`` leaves its counts alone."""
        request = memory_pb2.GetRequest(id=fields.text(id), peek=peek)
        response: memory_pb2.GetResponse = self._link.call(self._stub.Get, request, caller, timeout_s)
        return understood(lambda: memory_from_proto(response.memory))

    def update(
        self,
        caller: Caller,
        id: str,
        edit: Edit,
        *,
        timeout_s: float | None = None,
    ) -> tuple[Memory, bool, tuple[str, ...]]:
        """The memory after the edit, whether it has its vector, and the kinds of secrets blanked."""
        request = saving.update_request(MemoryId(fields.text(id)), edit)
        response: memory_pb2.UpdateResponse = self._link.call(self._stub.Update, request, caller, timeout_s, once=True)
        memory = understood(lambda: memory_from_proto(response.memory))
        return memory, response.embedded, tuple(response.redacted)

    def archive(
        self,
        caller: Caller,
        id: str,
        *,
        expected_revision: int | None = None,
        timeout_s: float | None = None,
    ) -> Memory:
        """The memory, hidden."""
        request = memory_pb2.ArchiveRequest(id=fields.text(id), expected_revision=expected_revision or 0)
        response: memory_pb2.ArchiveResponse = self._link.call(
            self._stub.Archive, request, caller, timeout_s, once=True
        )
        return understood(lambda: memory_from_proto(response.memory))

    def restore(
        self,
        caller: Caller,
        id: str,
        *,
        expected_revision: int | None = None,
        timeout_s: float | None = None,
    ) -> Memory:
        """The memory, back."""
        request = memory_pb2.RestoreRequest(id=fields.text(id), expected_revision=expected_revision or 0)
        response: memory_pb2.RestoreResponse = self._link.call(
            self._stub.Restore, request, caller, timeout_s, once=True
        )
        return understood(lambda: memory_from_proto(response.memory))

    def purge(
        self,
        caller: Caller,
        id: str,
        *,
        expected_revision: int | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Erases the memory everywhere, for ever."""
        request = memory_pb2.PurgeRequest(id=fields.text(id), expected_revision=expected_revision or 0)
        self._link.call(self._stub.Purge, request, caller, timeout_s, once=True)

    def list(
        self,
        caller: Caller,
        filter: Filter,
        *,
        limit: int = recall.PAGE_DEFAULT,
        cursor: str = "",
        timeout_s: float | None = None,
    ) -> tuple[tuple[Memory, ...], str]:
        """A page, newest first, and the cursor of the next, empty on the last."""
        response: memory_pb2.ListResponse = self._link.call(
            self._stub.List, recall.list_request(filter, limit, cursor), caller, timeout_s
        )
        return understood(lambda: recall.page_from_response(response))

    def search(self, caller: Caller, question: Question, *, timeout_s: float | None = None) -> Answer:
        """What was found, and how."""
        response: memory_pb2.SearchResponse = self._link.call(
            self._stub.Search, recall.question_to_proto(question), caller, timeout_s
        )
        return understood(lambda: recall.answer_from_proto(response))

    def sync(
        self,
        caller: Caller,
        *,
        project: str | None = None,
        recent: int = recall.RECENT_DEFAULT,
        timeout_s: float | None = None,
    ) -> Briefing:
        """What a session needs to know when it starts."""
        response: memory_pb2.SyncResponse = self._link.call(
            self._stub.Sync, recall.sync_request(project, recent), caller, timeout_s
        )
        return understood(lambda: recall.briefing_from_proto(response))

    def stats(self, caller: Caller, *, timeout_s: float | None = None) -> tuple[Stats, str, int]:
        """Counts, the fingerprint of the space in use (empty before the first vector), and the store's bytes."""
        response: memory_pb2.StatsResponse = self._link.call(
            self._stub.Stats, memory_pb2.StatsRequest(), caller, timeout_s
        )
        return understood(lambda: recall.stats_from_proto(response))

    def history(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> tuple[Memory, tuple[Revision, ...]]:
        """The memory and its earlier states, newest first."""
        request = memory_pb2.HistoryRequest(id=fields.text(id))
        response: memory_pb2.HistoryResponse = self._link.call(self._stub.History, request, caller, timeout_s)
        return understood(lambda: recall.history_from_response(response))

    def export(
        self,
        caller: Caller,
        filter: Filter,
        *,
        every_status: bool = False,
        without_history: bool = False,
        timeout_s: float | None = None,
    ) -> Iterator[saving.ImportItem]:
        """Every memory that passes, with its history, as they come; closing the iterator cancels the call."""
        request = saving.export_request(filter, every_status=every_status, without_history=without_history)
        with contextlib.closing(self._link.stream(self._stub.Export, request, caller, timeout_s)) as responses:
            for response in responses:
                yield understood(partial(saving.export_item, response))

    def import_(
        self,
        caller: Caller,
        items: Iterable[saving.ImportItem],
        *,
        dry_run: bool,
        timeout_s: float | None = None,
    ) -> ImportReport:
        """What the import did, or with ``dry_run`` would do. What ``items`` raise is raised."""
        feed = Feed()
        requests = feed.requests(iter(items), lambda item: saving.import_request(item, dry_run=dry_run))
        seconds = STREAM_S if timeout_s is None else timeout_s
        try:
            response: memory_pb2.ImportResponse = self._link.call(
                self._stub.Import, requests, caller, seconds, once=True
            )
        except PerdureError:
            if feed.raised is not None:
                raise feed.raised from None
            raise
        return understood(lambda: saving.report_from_proto(response))


class AccessClient(_Client):
    """Namespaces, tokens and audit; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = access_pb2_grpc.AccessServiceStub(self._link.channel)

    def authenticate(self, secret: str, *, timeout_s: float | None = None) -> Caller:
        """Whose token ``secret`` is; the caller carries the request id that is bound now.

        Raises:
            Unauthenticated: nobody's, or one that has ended.
        """
        request = access_pb2.AuthenticateRequest(secret=fields.text(secret))
        response: access_pb2.AuthenticateResponse = self._link.call(self._stub.Authenticate, request, None, timeout_s)
        return understood(lambda: access.caller_from_response(response, request_id=context.request_id()))

    def create_namespace(self, caller: Caller, name: str, *, timeout_s: float | None = None) -> Namespace:
        """The new namespace."""
        request = access_pb2.CreateNamespaceRequest(name=fields.text(name))
        response: access_pb2.CreateNamespaceResponse = self._link.call(
            self._stub.CreateNamespace, request, caller, timeout_s, once=True
        )
        return understood(lambda: access.namespace_from_proto(response.namespace))

    def namespaces(self, caller: Caller, *, timeout_s: float | None = None) -> tuple[Namespace, ...]:
        """Every namespace by name, with its count."""
        response: access_pb2.ListNamespacesResponse = self._link.call(
            self._stub.ListNamespaces, access_pb2.ListNamespacesRequest(), caller, timeout_s
        )
        return understood(lambda: tuple(access.namespace_from_proto(message) for message in response.namespaces))

    def create_token(
        self,
        caller: Caller,
        namespace: str,
        name: str,
        *,
        scopes: Iterable[str] = (),
        expires_at: datetime | None = None,
        create_namespace: bool = False,
        timeout_s: float | None = None,
    ) -> tuple[Token, str]:
        """The new token and its secret, which is shown this once; no scopes are read and write."""
        request = access.create_token_request(namespace, name, scopes, expires_at, create_namespace=create_namespace)
        response: access_pb2.CreateTokenResponse = self._link.call(
            self._stub.CreateToken, request, caller, timeout_s, once=True
        )
        return understood(lambda: (access.token_from_proto(response.token), response.secret))

    def tokens(
        self, caller: Caller, namespace: str | None = None, *, timeout_s: float | None = None
    ) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all, newest first, without their secrets."""
        request = access_pb2.ListTokensRequest(namespace=fields.text(namespace or ""))
        response: access_pb2.ListTokensResponse = self._link.call(self._stub.ListTokens, request, caller, timeout_s)
        return understood(lambda: tuple(access.token_from_proto(message) for message in response.tokens))

    def revoke_token(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> Token:
        """The token, ended."""
        request = access_pb2.RevokeTokenRequest(id=fields.text(id))
        response: access_pb2.RevokeTokenResponse = self._link.call(
            self._stub.RevokeToken, request, caller, timeout_s, once=True
        )
        return understood(lambda: access.token_from_proto(response.token))

    def audit(
        self,
        caller: Caller,
        namespace: str | None = None,
        *,
        limit: int = access.AUDIT_DEFAULT,
        timeout_s: float | None = None,
    ) -> tuple[AuditEvent, ...]:
        """What was done with namespaces and tokens, newest first."""
        request = access_pb2.ListAuditRequest(
            namespace=fields.text(namespace or ""), limit=fields.whole(limit, "limit", 1, access.AUDIT_MAX)
        )
        response: access_pb2.ListAuditResponse = self._link.call(self._stub.ListAudit, request, caller, timeout_s)
        return understood(lambda: tuple(access.event_from_proto(message) for message in response.events))


class JobsClient(_Client):
    """Jobs of the maintenance service; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = maintenance_pb2_grpc.MaintenanceServiceStub(self._link.channel)

    def start(
        self,
        caller: Caller,
        kind: JobKind,
        parameters: Mapping[str, str] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> tuple[Job, bool]:
        """The job, and whether it was running already."""
        response: maintenance_pb2.StartJobResponse = self._link.call(
            self._stub.StartJob, jobs.start_request(kind, parameters or {}), caller, timeout_s
        )
        return understood(lambda: (jobs.job_from_proto(response.job), response.already_running))

    def list(
        self,
        caller: Caller,
        kind: JobKind | None = None,
        *,
        limit: int = jobs.PAGE_DEFAULT,
        timeout_s: float | None = None,
    ) -> tuple[Job, ...]:
        """Jobs, newest first."""
        request = maintenance_pb2.ListJobsRequest(
            limit=fields.whole(limit, "limit", 1, jobs.PAGE_MAX), kind=kind.value if kind else ""
        )
        response: maintenance_pb2.ListJobsResponse = self._link.call(self._stub.ListJobs, request, caller, timeout_s)
        return understood(lambda: tuple(jobs.job_from_proto(message) for message in response.jobs))

    def get(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> Job:
        """The job with its progress."""
        request = maintenance_pb2.GetJobRequest(id=fields.text(id))
        response: maintenance_pb2.GetJobResponse = self._link.call(self._stub.GetJob, request, caller, timeout_s)
        return understood(lambda: jobs.job_from_proto(response.job))

    def cancel(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> Job:
        """The job, asked to stop at its next safe point."""
        request = maintenance_pb2.CancelJobRequest(id=fields.text(id))
        response: maintenance_pb2.CancelJobResponse = self._link.call(self._stub.CancelJob, request, caller, timeout_s)
        return understood(lambda: jobs.job_from_proto(response.job))


@contextlib.contextmanager
def _embedder_away() -> Iterator[None]:
    """Says of an absent service that it is the embedder."""
    try:
        yield
    except Unavailable as error:
        if error.reason is not Reason.SERVICE_AWAY:
            raise
        raise Unavailable(
            "The embedding service does not answer; it may be starting.",
            reason=Reason.EMBEDDER_AWAY,
            retry_after_s=error.retry_after_s,
        ) from None
