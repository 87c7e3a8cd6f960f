"""Namespaces, tokens, jobs and queues of a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName
from perdure.errors import AlreadyExists, FailedPrecondition, NotFound, Reason
from perdure.ports import AuditEvent, Clock, Job, JobKind, JobState, Namespace, OutboxEvent, Pending, Token, Use
from perdure.store.inmemory.state import Name, State

_UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class InMemoryAccess:
    """One transaction on namespaces, tokens and audit."""

    def __init__(self, state: State) -> None:
        self._state = state

    def create_namespace(self, name: NamespaceName, now: datetime) -> Namespace:
        """A new namespace."""
        if name in self._state.namespaces:
            raise AlreadyExists("There is a namespace of that name.", reason=Reason.NAMESPACE_EXISTS)
        self._state.namespaces[name] = now
        return Namespace(name=name, created_at=now)

    def namespace(self, name: NamespaceName) -> Namespace | None:
        """The namespace, or None."""
        return next((one for one in self.namespaces() if one.name == name), None)

    def namespaces(self) -> tuple[Namespace, ...]:
        """All, by name, with their counts."""
        counts = Counter(namespace for namespace, _ in self._state.memories)
        return tuple(
            Namespace(name=name, created_at=at, memories=counts[name])
            for name, at in sorted(self._state.namespaces.items())
        )

    def add_token(self, token: Token) -> None:
        """Stores a new token."""
        if token.namespace not in self._state.namespaces:
            raise NotFound("There is no such namespace.", reason=Reason.NAMESPACE_NOT_FOUND)
        if token.id in self._state.tokens:
            raise AlreadyExists("There is a token of that id.", reason=Reason.KEY_TAKEN)
        self._state.tokens[token.id] = token

    def token(self, token_id: str) -> Token | None:
        """The token of that id, also when expired or revoked."""
        return self._state.tokens.get(token_id)

    def tokens(self, namespace: NamespaceName | None) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all; newest first."""
        found = [token for token in self._state.tokens.values() if namespace in (None, token.namespace)]
        return tuple(sorted(found, key=lambda token: (token.created_at, token.id), reverse=True))

    def revoke_token(self, token_id: str, now: datetime) -> Token | None:
        """The token, revoked (at its first revocation's time); None where there is none."""
        token = self._state.tokens.get(token_id)
        if token is not None and token.revoked_at is None:
            token = self._state.tokens[token_id] = replace(token, revoked_at=now)
        return token

    def use_token(self, token_id: str, now: datetime) -> None:
        """Moves last_used_at, never back."""
        token = self._state.tokens.get(token_id)
        if token is not None:
            self._state.tokens[token_id] = replace(token, last_used_at=max(token.last_used_at or now, now))

    def audit(self, event: AuditEvent) -> None:
        """Adds an event to the trail."""
        self._state.audit.append(event)

    def trail(self, namespace: NamespaceName | None, limit: int) -> tuple[AuditEvent, ...]:
        """Events, newest first."""
        found = [event for event in reversed(self._state.audit) if namespace in (None, event.namespace)]
        return tuple(found[:limit])


class InMemoryWork:
    """One transaction on the bookkeeping of background work."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    def add_job(self, job: Job) -> Job:
        """Stores the job and its outbox event, or answers the unfinished job of its kind that is there already."""
        return self._state.add_job(job)

    def job(self, job_id: str) -> Job | None:
        """The job, or None."""
        return self._state.jobs.get(job_id)

    def jobs(self, kind: JobKind | None, limit: int) -> tuple[Job, ...]:
        """Jobs, newest first."""
        found = self._ordered(lambda job: kind in (None, job.kind))
        return tuple(reversed(found))[:limit]

    def take_job(self, job_id: str, owner: str, now: datetime, lease_until: datetime) -> Job | None:
        """The job, now running under ``owner``; None where it is finished or another holds an unexpired lease."""
        job = self._state.jobs.get(job_id)
        if job is None or job.state not in _UNFINISHED or _leased(job, now):
            return None
        taken = replace(
            job,
            state=JobState.RUNNING,
            started_at=job.started_at or now,
            attempts=job.attempts + 1,
            lease_owner=owner,
            lease_until=lease_until,
        )
        self._state.jobs[job_id] = taken
        return taken

    def save_job(self, job: Job) -> bool:
        """Writes progress, parameters or outcome; False where the lease is another's by now, or the job is finished."""
        stored = self._state.jobs.get(job.id)
        if stored is None or stored.state not in _UNFINISHED or stored.lease_owner != job.lease_owner:
            return False
        self._state.jobs[job.id] = replace(
            job,
            kind=stored.kind,
            created_at=stored.created_at,
            cancel_requested=stored.cancel_requested,
        )
        return True

    def request_cancel(self, job_id: str) -> Job | None:
        """Asks the job to stop; a queued one is cancelled at once."""
        job = self._state.jobs.get(job_id)
        if job is None or job.state not in _UNFINISHED:
            return job
        asked = replace(job, cancel_requested=True)
        if job.state is JobState.QUEUED:
            asked = replace(asked, state=JobState.CANCELLED, finished_at=self._clock.now())
        self._state.jobs[job_id] = asked
        return asked

    def stalled_jobs(self, now: datetime) -> tuple[Job, ...]:
        """Queued or running jobs without a live lease, oldest first."""
        return tuple(self._ordered(lambda job: job.state in _UNFINISHED and not _leased(job, now)))

    def outbox(self, limit: int) -> tuple[OutboxEvent, ...]:
        """Events not handed over yet, oldest first."""
        return tuple(event for _, event in sorted(self._state.outbox.items()))[:limit]

    def handed_over(self, events: Sequence[int]) -> None:
        """Takes events off the outbox."""
        for event in events:
            self._state.outbox.pop(event, None)

    def pending(self, limit: int, now: datetime) -> tuple[Pending, ...]:
        """Memories whose turn has come, oldest first."""
        due = [
            name
            for name, place in self._state.queue.items()
            if place.waiting and (place.retry_at is None or place.retry_at <= now)
        ]
        due.sort(key=lambda name: self._state.memories[name].number)
        return tuple(self._pending(name) for name in due[:limit])

    def pending_count(self) -> int:
        """How many memories wait for a vector."""
        return sum(place.waiting for place in self._state.queue.values())

    def postpone(self, namespace: NamespaceName, memory: MemoryId, retry_at: datetime) -> None:
        """Counts a failed attempt and sets when to try again."""
        place = self._state.queue.get((namespace, memory))
        if place is not None:
            self._state.queue[namespace, memory] = replace(place, attempts=place.attempts + 1, retry_at=retry_at)

    def record_uses(self, uses: Sequence[Use]) -> None:
        """Adds to access_count, shown_count and last_accessed_at; unknown ids are ignored."""
        for use in uses:
            name = (use.namespace, use.memory)
            stored = self._state.memories.get(name)
            if stored is None:
                continue
            memory = stored.memory
            used = replace(
                memory,
                access_count=memory.access_count + use.accessed,
                shown_count=memory.shown_count + use.shown,
                last_accessed_at=max(memory.last_accessed_at, use.at) if use.accessed else memory.last_accessed_at,
            )
            self._state.memories[name] = replace(stored, memory=used)

    def due_namespaces(self, last_run_before: datetime, limit: int) -> tuple[tuple[NamespaceName, bool], ...]:
        """None: nothing in this store lives long enough to age (``ports.LifecycleStore``)."""
        del last_run_before, limit
        return ()

    def unembedded_procedures(self, limit: int) -> tuple[NamespaceName, ...]:
        """None: this store keeps no procedures."""
        del limit
        return ()

    def summaries_since(self, moment: datetime) -> int:
        """None: there are no runs here."""
        del moment
        return 0

    def expire_replays(self, now: datetime, limit: int) -> int:
        """Forgets answers of expired idempotency keys; how many."""
        expired = [key for key, (_, at) in self._state.replays.items() if at <= now][:limit]
        for key in expired:
            del self._state.replays[key]
        return len(expired)

    def active_space(self) -> str | None:
        """Fingerprint of the space searches use."""
        return self._state.active_space

    def spaces(self) -> dict[str, int]:
        """Vectors by fingerprint."""
        return dict(Counter(space for _, _, space in self._state.vectors))

    def without_vector(self, space: str, limit: int, after: MemoryId | None) -> tuple[Pending, ...]:
        """Memories that have no vector in ``space``, by id after ``after``."""
        found = [name for name in self._without(space) if after is None or name[1] > after]
        return tuple(self._pending(name) for name in sorted(found, key=lambda name: name[1])[:limit])

    def count_without_vector(self, space: str) -> int:
        """How many memories have no vector in ``space``."""
        return len(self._without(space))

    def switch_space(self, space: str) -> None:
        """Makes ``space`` the one that searches use, and forgets the vectors of every other."""
        missing = len(self._without(space))
        if missing:
            raise FailedPrecondition(
                "Some memories have no vector in that space yet; embed them first.",
                reason=Reason.SPACE_MISMATCH,
                details={"missing": missing},
            )
        state = self._state
        state.active_space = space
        state.vectors = {name: vector for name, vector in state.vectors.items() if name[2] == space}
        state.dimensions = {name: size for name, size in state.dimensions.items() if name == space}
        state.queue = {}

    # ------------------------------------------------------------ inside

    def _without(self, space: str) -> list[Name]:
        return [name for name in self._state.memories if (*name, space) not in self._state.vectors]

    def _pending(self, name: Name) -> Pending:
        place = self._state.queue.get(name)
        return Pending(namespace=name[0], memory=name[1], attempts=0 if place is None else place.attempts)

    def _ordered(self, wanted: Callable[[Job], bool]) -> list[Job]:
        return sorted(filter(wanted, self._state.jobs.values()), key=lambda job: (job.created_at, job.id))


def _leased(job: Job, now: datetime) -> bool:
    return job.lease_until is not None and job.lease_until > now
