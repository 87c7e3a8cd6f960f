"""Experience in and out, as documents of ``evermind.experience/1``.

What an imported file says about its own model goes out again as it came in: it is another model's history, and nothing
here learns from it. Pictures travel beside the documents, through the episodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from perdure.domain.experience import documents
from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.blanking_skills import blanked_members, blanked_run, blanked_skill
from perdure.domain.experience.episode import Json
from perdure.domain.experience.transfer import ExperienceImport, Part, PartKind
from perdure.domain.experience.wording import procedure_of
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import FailedPrecondition, InvalidArgument, Reason
from perdure.ports import Clock, ExperienceReader, ExperienceStore, ExperienceUnit
from perdure.usecases.permission import require

PAGE = 100
BATCH = 100
"""Documents stored in one transaction; others write between two."""

PROBLEMS_MAX = 100

_HISTORY = ("learned", "adaptations")
"""Ids, versions and figures of the model that the imported file belonged to."""

_OWN = "perdure"
"""The head's member for the private model's own trainings, which the schema does not know."""


class ExperienceTransfer:
    """Exports and imports the experience of the caller's namespace."""

    def __init__(self, store: ExperienceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def export(self, caller: Caller) -> Iterator[Part]:
        """The head, then episodes, skills and runs, the oldest of each last.

        Raises:
            NotFound: there is no such namespace.
            PermissionDenied: the caller lacks the scope ``experience``.
        """
        require(caller, TokenScope.EXPERIENCE)
        return self._parts(caller)

    def _parts(self, caller: Caller) -> Iterator[Part]:
        with self._store.experience_view(caller.scope) as reader:
            head: dict[str, Json] = {
                "learned": {},
                "adaptations": [],
                **reader.imported_head(),
                "schema": documents.SCHEMA,
            }
            own = [one.version for one in reader.adaptations()]
        if own:
            head[_OWN] = {"models": list(own)}
        yield Part(PartKind.HEAD, head)
        for kind in (PartKind.EPISODE, PartKind.SKILL, PartKind.RUN):
            cursor = ""
            while True:
                # a view of its own for each page: none is held open while a client is slow
                with self._store.experience_view(caller.scope) as reader:
                    page, cursor = _page(reader, kind, cursor)
                yield from (Part(kind, document) for document in page)
                if not cursor:
                    break

    def import_(self, caller: Caller, parts: Iterator[Part], *, dry_run: bool) -> ExperienceImport:
        """What came in, or with ``dry_run`` would. What is there already stays as it is.

        Raises:
            FailedPrecondition: the head names another schema (SCHEMA_UNKNOWN); nothing was stored.
            InvalidArgument: the first part is no head.
            PermissionDenied: the caller lacks the scope ``experience``.
        """
        require(caller, TokenScope.EXPERIENCE)
        head = next(parts, None)
        _refuse_foreign(head)
        assert head is not None  # noqa: S101 - refused above
        report = _Report()
        kept = _kept_of(head.document)
        if kept and not dry_run:
            with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
                unit.keep_imported_head(kept)
        number = Counter[PartKind]()
        while batch := list(islice(parts, BATCH)):
            if dry_run:
                with self._store.experience_view(caller.scope) as reader:
                    for part in batch:
                        self._one(reader, None, part, number, report)
            else:
                with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
                    for part in batch:
                        self._one(unit, unit, part, number, report)
        return report.done()

    def _one(
        self,
        reader: ExperienceReader,
        unit: ExperienceUnit | None,
        part: Part,
        number: Counter[PartKind],
        report: _Report,
    ) -> None:
        """Store one document where it is new; one that is malformed is left out and named."""
        at = number[part.kind]
        number[part.kind] += 1
        path = f"{part.kind.value}s[{at}]"
        try:
            match part.kind:
                case PartKind.EPISODE:
                    new = self._episode(reader, unit, part.document, path)
                case PartKind.SKILL:
                    new = self._skill(reader, unit, part.document, path)
                case PartKind.RUN:
                    new = self._run(reader, unit, part.document, path)
                case PartKind.HEAD:
                    raise InvalidArgument("There is a second head.", reason=Reason.FIELD_INVALID)
        except InvalidArgument as problem:
            # a sentence that names the place itself needs no other
            report.problem(problem.message if path in problem.message else f"{path}: {problem.message}")
        else:
            report.count(part.kind, new=new)

    def _episode(
        self, reader: ExperienceReader, unit: ExperienceUnit | None, document: Mapping[str, Json], path: str
    ) -> bool:
        episode = blanked(documents.episode_from_json(document, now=self._clock.now(), path=path), path)
        if not episode.id:
            # one that is made up would come in again with each import
            raise InvalidArgument(f"'{path}.id' is missing.", reason=Reason.FIELD_MISSING)
        if reader.episode(episode.id) is not None:
            return False
        if unit is not None:
            unit.put_episode(episode, procedure_of(episode))
        return True

    def _skill(
        self, reader: ExperienceReader, unit: ExperienceUnit | None, document: Mapping[str, Json], path: str
    ) -> bool:
        skill = blanked_skill(documents.skill_from_json(document, path=path))
        if reader.skill(skill.id) is not None:
            return False
        if unit is not None:
            unit.put_skill(skill, procedure_of(skill))
        return True

    def _run(
        self, reader: ExperienceReader, unit: ExperienceUnit | None, document: Mapping[str, Json], path: str
    ) -> bool:
        run = blanked_run(documents.run_from_json(document, path=path))
        return reader.skill_run(run.id) is None if unit is None else unit.import_run(run)


class _Report:
    """Counts as they grow."""

    def __init__(self) -> None:
        self._created: Counter[str] = Counter()
        self._unchanged: Counter[str] = Counter()
        self._problems: list[str] = []
        self._untold = 0

    def count(self, kind: PartKind, *, new: bool) -> None:
        """One more that came in, or was there."""
        (self._created if new else self._unchanged)[kind.value] += 1

    def problem(self, sentence: str) -> None:
        """One that was left out."""
        if len(self._problems) < PROBLEMS_MAX:
            self._problems.append(sentence)
        else:
            self._untold += 1

    def done(self) -> ExperienceImport:
        """The report."""
        untold = (f"and {self._untold} more",) if self._untold else ()
        return ExperienceImport(created=self._created, unchanged=self._unchanged, problems=(*self._problems, *untold))


def _page(reader: ExperienceReader, kind: PartKind, cursor: str) -> tuple[list[Mapping[str, Json]], str]:
    match kind:
        case PartKind.EPISODE:
            episodes = reader.episodes(after=cursor, limit=PAGE)
            return [documents.episode_to_json(one) for one in episodes.episodes], episodes.next
        case PartKind.SKILL:
            skills = reader.skills(after=cursor, limit=PAGE)
            return [documents.skill_to_json(one) for one in skills.skills], skills.next
        case _:
            runs = reader.skill_runs(None, after=cursor, limit=PAGE)
            return [documents.run_to_json(one) for one in runs.runs], runs.next


def _kept_of(head: Mapping[str, Json]) -> dict[str, Json]:
    """What of an imported head goes out again: the other model's history, and the unknown without secrets."""
    history = {name: head[name] for name in _HISTORY if name in head}
    unknown = {name: value for name, value in head.items() if name not in (*_HISTORY, "schema", _OWN)}
    return {**blanked_members(unknown), **history}


def _refuse_foreign(head: Part | None) -> None:
    if head is None or head.kind is not PartKind.HEAD:
        raise InvalidArgument("An import begins with its head.", reason=Reason.FIELD_MISSING, details={"field": "head"})
    if head.document.get("schema") != documents.SCHEMA:
        raise FailedPrecondition(
            f"This is not experience of the schema {documents.SCHEMA}; nothing was taken in. "
            "A newer file needs a newer Perdure.",
            reason=Reason.SCHEMA_UNKNOWN,
        )
