"""Give procedures their vectors: the runner of ``JobKind.EMBED_PROCEDURES``, and a training's first step.

Until then they are found by words. A long text is read in chunks of the model's window, so nothing of it is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from perdure.domain.experience.curriculum import chunks
from perdure.domain.experience.learning import Procedure
from perdure.domain.namespace import Actor, NamespaceName, Scope
from perdure.domain.vectors import Vector
from perdure.errors import DeadlineExceeded, NotFound, Reason, Unavailable
from perdure.ports import Embedder, Embeddings, ExperienceReader, ExperienceStore, Job, JobKind, ProcedureVector
from perdure.usecases.run_job import Report

BATCH = 16
EMBED_TIMEOUT_S = 60.0


class EmbedProcedures:
    """Embeds what has no vector yet."""

    def __init__(self, store: ExperienceStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def __call__(self, job: Job, report: Report) -> str:
        """Embed all procedures of the job's namespace; a sentence with what was done.

        Raises:
            Unavailable: the embedder is away; the job waits for it.
        """
        scope = Scope(NamespaceName(job.parameters["namespace"]))
        space = self._embedder.space().fingerprint
        try:
            with self._store.experience_view(scope) as reader:
                waiting = without_vectors(reader, reader.procedures(space), space)
            done = 0
            for count in self.embed(scope, space, waiting):
                done += count
                report(done, len(waiting))
        except NotFound:
            return "the namespace is gone"
        return f"{done} procedures embedded"

    def embed(self, scope: Scope, space: str, procedures: Sequence[Procedure]) -> Iterator[int]:
        """Makes and stores their vectors, some at a time; how many were done after each.

        Raises:
            Unavailable: the embedder is away, slow, or answers in another space by now.
        """
        actor = Actor(name=JobKind.EMBED_PROCEDURES.value, kind="job")
        for start in range(0, len(procedures), BATCH):
            some = procedures[start : start + BATCH]
            pieces = [(one, place, text) for one in some for place, text in enumerate(chunks(one.text))]
            vectors: list[Vector] = []
            for begin in range(0, len(pieces), BATCH):
                vectors += embedded(
                    [text for _, _, text in pieces[begin : begin + BATCH]],
                    space,
                    lambda texts: self._embedder.documents(texts, timeout_s=EMBED_TIMEOUT_S, background=True),
                )
            rows = [
                ProcedureVector(kind=one.kind, id=one.id, chunk=place, sha256=one.sha256, vector=vector)
                for (one, place, _), vector in zip(pieces, vectors, strict=True)
            ]
            with self._store.experience(scope, actor) as unit:
                unit.set_procedure_vectors(space, rows)
            yield len(some)


def without_vectors(reader: ExperienceReader, procedures: Sequence[Procedure], space: str) -> tuple[Procedure, ...]:
    """Those that have no vector of their text as it is."""
    known = {(one.kind, one.id, one.sha256) for one in reader.procedure_vectors(space)}
    return tuple(one for one in procedures if (one.kind, one.id, one.sha256) not in known)


def embedded(texts: Sequence[str], space: str, embed: Callable[[Sequence[str]], Embeddings]) -> list[Vector]:
    """Vectors of ``texts`` in ``space``.

    Raises:
        Unavailable: away, slow, or in another space.
    """
    try:
        answer = embed(texts)
    except DeadlineExceeded as error:
        raise Unavailable(error.message, reason=Reason.EMBEDDER_AWAY) from error
    if answer.space.fingerprint != space:
        raise Unavailable("The embedding model was changed meanwhile.", reason=Reason.EMBEDDER_AWAY)
    return list(answer.vectors)
