"""Clients for the gateway's event loop: they speak domain values, raise Perdure's errors, and take the caller first.

Make them inside the running loop. They say the same as ``clients`` says to threads.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Self

from grpc_health.v1 import health_pb2, health_pb2_grpc

from perdure.domain.lifecycle import Compacted, Foreseen
from perdure.domain.memory import Filter, Memory, MemoryId, Revision
from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Answer, Briefing, Question
from perdure.domain.runs import Run, RunItem, Task, UndoReport
from perdure.domain.saving import Checkpoint, Draft, Edit, Failure, ImportReport, SaveResult
from perdure.errors import PerdureError
from perdure.observability import context
from perdure.ports import AuditEvent, Job, JobKind, Namespace, Stats, Token
from perdure.rpc.maintenance.v1 import maintenance_pb2, maintenance_pb2_grpc
from perdure.rpc.retrieval.v1 import access_pb2, access_pb2_grpc, memory_pb2, memory_pb2_grpc
from perdure.wire.calling import CALL_S, STREAM_S, AsyncLink, Feed, understood
from perdure.wire.convert import access, fields, jobs, lifecycle, recall, saving
from perdure.wire.convert.memory import memory_from_proto

HEALTH_S = 1.0
"""Time for a question about health: a probe does not wait."""

LONG_CALL_S = 120.0
"""Time for a call that touches many memories, a batch at a time."""


class Client:
    """A link and its end."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        self._link = AsyncLink(target, internal_token=internal_token, timeout_s=timeout_s)

    async def close(self) -> None:
        """Lets go of the connection."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncMemoryClient(Client):
    """Memories of the caller's namespace; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = memory_pb2_grpc.MemoryServiceStub(self._link.channel)

    async def save(
        self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None, timeout_s: float | None = None
    ) -> SaveResult:
        """What became of ``draft``."""
        response: memory_pb2.SaveResponse = await self._link.call(
            self._stub.Save, saving.save_request(draft, idempotency_key), caller, timeout_s
        )
        return understood(lambda: saving.result_from_proto(response.result))

    async def save_many(
        self,
        caller: Caller,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        timeout_s: float | None = None,
    ) -> tuple[SaveResult | Failure, ...]:
        """What became of each of up to 500 ``drafts``, in their order."""
        response: memory_pb2.SaveManyResponse = await self._link.call(
            self._stub.SaveMany, saving.save_many_request(drafts, idempotency_key), caller, timeout_s
        )
        return understood(lambda: saving.results_from_response(response))

    async def checkpoint(
        self,
        caller: Caller,
        checkpoint: Checkpoint,
        *,
        idempotency_key: str | None = None,
        timeout_s: float | None = None,
    ) -> SaveResult:
        """What became of ``checkpoint``."""
        response: memory_pb2.CheckpointResponse = await self._link.call(
            self._stub.Checkpoint, saving.checkpoint_request(checkpoint, idempotency_key), caller, timeout_s
        )
        return understood(lambda: saving.result_from_proto(response.result))

    async def get(self, caller: Caller, id: str, *, peek: bool = False, timeout_s: float | None = None) -> Memory:
        """The memory, whatever its status; ``peek`` leaves its counts alone."""
        request = memory_pb2.GetRequest(id=fields.text(id), peek=peek)
        response: memory_pb2.GetResponse = await self._link.call(self._stub.Get, request, caller, timeout_s)
        return understood(lambda: memory_from_proto(response.memory))

    async def update(
        self,
        caller: Caller,
        id: str,
        edit: Edit,
        *,
        timeout_s: float | None = None,
    ) -> tuple[Memory, bool, tuple[str, ...]]:
        """The memory after the edit, whether it has its vector, and the kinds of secrets blanked."""
        request = saving.update_request(MemoryId(fields.text(id)), edit)
        response: memory_pb2.UpdateResponse = await self._link.call(
            self._stub.Update, request, caller, timeout_s, once=True
        )
        memory = understood(lambda: memory_from_proto(response.memory))
        return memory, response.embedded, tuple(response.redacted)

    async def archive(
        self,
        caller: Caller,
        id: str,
        *,
        expected_revision: int | None = None,
        timeout_s: float | None = None,
    ) -> Memory:
        """The memory, hidden."""
        request = memory_pb2.ArchiveRequest(id=fields.text(id), expected_revision=expected_revision or 0)
        response: memory_pb2.ArchiveResponse = await self._link.call(
            self._stub.Archive, request, caller, timeout_s, once=True
        )
        return understood(lambda: memory_from_proto(response.memory))

    async def restore(
        self,
        caller: Caller,
        id: str,
        *,
        expected_revision: int | None = None,
        timeout_s: float | None = None,
    ) -> Memory:
        """The memory, back."""
        request = memory_pb2.RestoreRequest(id=fields.text(id), expected_revision=expected_revision or 0)
        response: memory_pb2.RestoreResponse = await self._link.call(
            self._stub.Restore, request, caller, timeout_s, once=True
        )
        return understood(lambda: memory_from_proto(response.memory))

    async def purge(
        self,
        caller: Caller,
        id: str,
        *,
        expected_revision: int | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Erases the memory everywhere, for ever."""
        request = memory_pb2.PurgeRequest(id=fields.text(id), expected_revision=expected_revision or 0)
        await self._link.call(self._stub.Purge, request, caller, timeout_s, once=True)

    async def list(
        self,
        caller: Caller,
        filter: Filter,
        *,
        limit: int = recall.PAGE_DEFAULT,
        cursor: str = "",
        timeout_s: float | None = None,
    ) -> tuple[tuple[Memory, ...], str]:
        """A page, newest first, and the cursor of the next, empty on the last."""
        response: memory_pb2.ListResponse = await self._link.call(
            self._stub.List, recall.list_request(filter, limit, cursor), caller, timeout_s
        )
        return understood(lambda: recall.page_from_response(response))

    async def search(self, caller: Caller, question: Question, *, timeout_s: float | None = None) -> Answer:
        """What was found, and how."""
        response: memory_pb2.SearchResponse = await self._link.call(
            self._stub.Search, recall.question_to_proto(question), caller, timeout_s
        )
        return understood(lambda: recall.answer_from_proto(response))

    async def sync(
        self,
        caller: Caller,
        *,
        project: str | None = None,
        recent: int = recall.RECENT_DEFAULT,
        timeout_s: float | None = None,
    ) -> Briefing:
        """What a session needs to know when it starts."""
        response: memory_pb2.SyncResponse = await self._link.call(
            self._stub.Sync, recall.sync_request(project, recent), caller, timeout_s
        )
        return understood(lambda: recall.briefing_from_proto(response))

    async def stats(self, caller: Caller, *, timeout_s: float | None = None) -> tuple[Stats, str, int]:
        """Counts, the fingerprint of the space in use (empty before the first vector), and the store's bytes."""
        response: memory_pb2.StatsResponse = await self._link.call(
            self._stub.Stats, memory_pb2.StatsRequest(), caller, timeout_s
        )
        return understood(lambda: recall.stats_from_proto(response))

    async def history(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> tuple[Memory, tuple[Revision, ...]]:
        """The memory and its earlier states, newest first."""
        request = memory_pb2.HistoryRequest(id=fields.text(id))
        response: memory_pb2.HistoryResponse = await self._link.call(self._stub.History, request, caller, timeout_s)
        return understood(lambda: recall.history_from_response(response))

    async def export(
        self,
        caller: Caller,
        filter: Filter,
        *,
        every_status: bool = False,
        without_history: bool = False,
        timeout_s: float | None = None,
    ) -> AsyncIterator[saving.ImportItem]:
        """Every memory that passes, with its history, as they come; closing the iterator cancels the call."""
        request = saving.export_request(filter, every_status=every_status, without_history=without_history)
        responses = self._link.stream(self._stub.Export, request, caller, timeout_s)
        async with contextlib.aclosing(responses):
            async for response in responses:
                yield understood(partial(saving.export_item, response))

    async def import_(
        self,
        caller: Caller,
        items: AsyncIterator[saving.ImportItem],
        *,
        dry_run: bool,
        timeout_s: float | None = None,
    ) -> ImportReport:
        """What the import did, or with ``dry_run`` would do. What ``items`` raise is raised."""
        feed = Feed()
        requests = feed.requests_aio(items, lambda item: saving.import_request(item, dry_run=dry_run))
        seconds = STREAM_S if timeout_s is None else timeout_s
        try:
            response: memory_pb2.ImportResponse = await self._link.call(
                self._stub.Import, requests, caller, seconds, once=True
            )
        # gRPC cancels its own call, as a CancelledError, when the items raise
        except (PerdureError, asyncio.CancelledError):
            if feed.raised is not None:
                raise feed.raised from None
            raise
        return understood(lambda: saving.report_from_proto(response))


class AsyncAccessClient(Client):
    """Namespaces, tokens and audit; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = access_pb2_grpc.AccessServiceStub(self._link.channel)

    async def authenticate(self, secret: str, *, timeout_s: float | None = None) -> Caller:
        """Whose token ``secret`` is; the caller carries the request id that is bound now.

        Raises:
            Unauthenticated: nobody's, or one that has ended.
        """
        request = access_pb2.AuthenticateRequest(secret=fields.text(secret))
        response: access_pb2.AuthenticateResponse = await self._link.call(
            self._stub.Authenticate, request, None, timeout_s
        )
        return understood(lambda: access.caller_from_response(response, request_id=context.request_id()))

    async def create_namespace(self, caller: Caller, name: str, *, timeout_s: float | None = None) -> Namespace:
        """The new namespace."""
        request = access_pb2.CreateNamespaceRequest(name=fields.text(name))
        response: access_pb2.CreateNamespaceResponse = await self._link.call(
            self._stub.CreateNamespace, request, caller, timeout_s, once=True
        )
        return understood(lambda: access.namespace_from_proto(response.namespace))

    async def namespaces(self, caller: Caller, *, timeout_s: float | None = None) -> tuple[Namespace, ...]:
        """Every namespace by name, with its count."""
        response: access_pb2.ListNamespacesResponse = await self._link.call(
            self._stub.ListNamespaces, access_pb2.ListNamespacesRequest(), caller, timeout_s
        )
        return understood(lambda: tuple(access.namespace_from_proto(message) for message in response.namespaces))

    async def create_token(
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
        response: access_pb2.CreateTokenResponse = await self._link.call(
            self._stub.CreateToken, request, caller, timeout_s, once=True
        )
        return understood(lambda: (access.token_from_proto(response.token), response.secret))

    async def tokens(
        self, caller: Caller, namespace: str | None = None, *, timeout_s: float | None = None
    ) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all, newest first, without their secrets."""
        request = access_pb2.ListTokensRequest(namespace=fields.text(namespace or ""))
        response: access_pb2.ListTokensResponse = await self._link.call(
            self._stub.ListTokens, request, caller, timeout_s
        )
        return understood(lambda: tuple(access.token_from_proto(message) for message in response.tokens))

    async def revoke_token(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> Token:
        """The token, ended."""
        request = access_pb2.RevokeTokenRequest(id=fields.text(id))
        response: access_pb2.RevokeTokenResponse = await self._link.call(
            self._stub.RevokeToken, request, caller, timeout_s, once=True
        )
        return understood(lambda: access.token_from_proto(response.token))

    async def audit(
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
        response: access_pb2.ListAuditResponse = await self._link.call(self._stub.ListAudit, request, caller, timeout_s)
        return understood(lambda: tuple(access.event_from_proto(message) for message in response.events))


class AsyncJobsClient(Client):
    """Jobs of the maintenance service; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = maintenance_pb2_grpc.MaintenanceServiceStub(self._link.channel)

    async def start(
        self,
        caller: Caller,
        kind: JobKind,
        parameters: Mapping[str, str] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> tuple[Job, bool]:
        """The job, and whether it was running already."""
        response: maintenance_pb2.StartJobResponse = await self._link.call(
            self._stub.StartJob, jobs.start_request(kind, parameters or {}), caller, timeout_s
        )
        return understood(lambda: (jobs.job_from_proto(response.job), response.already_running))

    async def list(
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
        response: maintenance_pb2.ListJobsResponse = await self._link.call(
            self._stub.ListJobs, request, caller, timeout_s
        )
        return understood(lambda: tuple(jobs.job_from_proto(message) for message in response.jobs))

    async def get(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> Job:
        """The job with its progress."""
        request = maintenance_pb2.GetJobRequest(id=fields.text(id))
        response: maintenance_pb2.GetJobResponse = await self._link.call(self._stub.GetJob, request, caller, timeout_s)
        return understood(lambda: jobs.job_from_proto(response.job))

    async def cancel(
        self,
        caller: Caller,
        id: str,
        *,
        timeout_s: float | None = None,
    ) -> Job:
        """The job, asked to stop at its next safe point."""
        request = maintenance_pb2.CancelJobRequest(id=fields.text(id))
        response: maintenance_pb2.CancelJobResponse = await self._link.call(
            self._stub.CancelJob, request, caller, timeout_s
        )
        return understood(lambda: jobs.job_from_proto(response.job))


class AsyncHealth(Client):
    """Whether one service answers and can work."""

    def __init__(self, target: str, *, timeout_s: float = HEALTH_S) -> None:
        super().__init__(target, timeout_s=timeout_s)
        self._stub = health_pb2_grpc.HealthStub(self._link.channel)

    async def check(self, service: str = "", *, timeout_s: float | None = None) -> bool:
        """True where ``service`` (empty: the whole process) is serving; False where it is not, or does not answer."""
        request = health_pb2.HealthCheckRequest(service=service)
        try:
            response = await self._link.call(self._stub.Check, request, None, timeout_s)
        except PerdureError:
            return False
        return bool(response.status == health_pb2.HealthCheckResponse.SERVING)


class AsyncLifecycleClient(Client):
    """The lifecycle of memories; every method raises the service's errors as they are."""

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = maintenance_pb2_grpc.MaintenanceServiceStub(self._link.channel)

    async def start(
        self, caller: Caller, task: Task, *, project: str | None = None, dry_run: bool = False, wait_s: float = 0.0
    ) -> Run:
        """A run of that task, over or not after ``wait_s``."""
        wait_ms = fields.whole(round(wait_s * 1000), "wait_ms", 0, lifecycle.WAIT_MS_MAX)
        where = fields.optional_text(project)
        response: maintenance_pb2.ConsolidateResponse | maintenance_pb2.CleanResponse
        if task is Task.CONSOLIDATE:
            consolidate = maintenance_pb2.ConsolidateRequest(project=where, dry_run=dry_run, wait_ms=wait_ms)
            response = await self._link.call(self._stub.Consolidate, consolidate, caller, wait_s + CALL_S)
        else:
            clean = maintenance_pb2.CleanRequest(project=where, dry_run=dry_run, wait_ms=wait_ms)
            response = await self._link.call(self._stub.Clean, clean, caller, wait_s + CALL_S)
        return understood(lambda: lifecycle.run_from_proto(response.run))

    async def runs(self, caller: Caller, *, limit: int = lifecycle.PAGE_DEFAULT) -> tuple[Run, ...]:
        """Runs, newest first."""
        request = maintenance_pb2.ListRunsRequest(limit=fields.whole(limit, "limit", 1, lifecycle.PAGE_MAX))
        response: maintenance_pb2.ListRunsResponse = await self._link.call(self._stub.ListRuns, request, caller, None)
        return understood(lambda: tuple(lifecycle.run_from_proto(message) for message in response.runs))

    async def run(self, caller: Caller, run_id: str) -> tuple[Run, tuple[RunItem, ...]]:
        """One run and what it did."""
        request = maintenance_pb2.GetRunRequest(id=fields.text(run_id))
        response: maintenance_pb2.GetRunResponse = await self._link.call(self._stub.GetRun, request, caller, None)
        return understood(
            lambda: (
                lifecycle.run_from_proto(response.run),
                tuple(lifecycle.item_from_proto(message) for message in response.items),
            )
        )

    async def undo(self, caller: Caller, run_id: str) -> tuple[Run, UndoReport]:
        """The run after its undo, and what was put back."""
        request = maintenance_pb2.UndoRunRequest(id=fields.text(run_id))
        response: maintenance_pb2.UndoRunResponse = await self._link.call(
            self._stub.UndoRun, request, caller, LONG_CALL_S
        )
        return understood(lambda: lifecycle.undo_from_response(response))

    async def foresee(self, caller: Caller, memory: MemoryId) -> Foreseen:
        """What happens to a memory if nobody uses it."""
        request = maintenance_pb2.LifecycleRequest(id=memory)
        response: maintenance_pb2.LifecycleResponse = await self._link.call(self._stub.Lifecycle, request, caller, None)
        return understood(lambda: lifecycle.foreseen_from_response(response))

    async def compact(
        self, caller: Caller, names: Sequence[str], *, stub: str | None = None, chars: int = 0, dry_run: bool = False
    ) -> Compacted:
        """What was compacted, and why the rest was not."""
        request = lifecycle.compact_request(names, stub=stub, chars=chars, dry_run=dry_run)
        response: maintenance_pb2.CompactResponse = await self._link.call(
            self._stub.Compact, request, caller, LONG_CALL_S
        )
        return understood(lambda: lifecycle.compacted_from_response(response))

    async def restore_content(
        self, caller: Caller, texts: Sequence[tuple[str, str]], unstub: Sequence[str] = ()
    ) -> tuple[tuple[MemoryId, ...], tuple[str, ...]]:
        """Memories whose text is home, and names that match none."""
        request = maintenance_pb2.RestoreContentRequest(
            texts=[
                maintenance_pb2.FullText(name=fields.text(name), content=fields.text(content))
                for name, content in texts
            ],
            unstub=fields.texts(unstub),
        )
        response: maintenance_pb2.RestoreContentResponse = await self._link.call(
            self._stub.RestoreContent, request, caller, LONG_CALL_S
        )
        return understood(lambda: lifecycle.restored_from_response(response))

    async def memory_md(self, caller: Caller, project: str) -> tuple[str, int]:
        """The block of MEMORY.md, and how many memories it names."""
        request = maintenance_pb2.RenderMemoryMdRequest(project=fields.text(project))
        response: maintenance_pb2.RenderMemoryMdResponse = await self._link.call(
            self._stub.RenderMemoryMd, request, caller, None
        )
        return response.block, response.memories

    async def erase(self, caller: Caller, *, project: str | None, confirm: str) -> int:
        """How many memories were erased."""
        request = maintenance_pb2.EraseRequest(project=fields.optional_text(project), confirm=fields.text(confirm))
        response: maintenance_pb2.EraseResponse = await self._link.call(self._stub.Erase, request, caller, LONG_CALL_S)
        return response.erased
