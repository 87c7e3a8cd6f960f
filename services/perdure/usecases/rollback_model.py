"""Go back to the private model before."""

from __future__ import annotations

from perdure.domain.experience.learning import Adaptation
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import NotFound, Reason
from perdure.ports import ExperienceStore
from perdure.usecases.permission import require


class RollbackModel:
    """Takes the newest version out of use; what it learned is pending again."""

    def __init__(self, store: ExperienceStore) -> None:
        self._store = store

    def __call__(self, caller: Caller) -> int:
        """The number in use now; 0 is none.

        Raises:
            PermissionDenied: the caller may not see experience.
            NotFound: there is no such namespace, or no version to go back from (MODEL_MISSING).
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            space = unit.active_space() or _last_space(unit.adaptations())
            number = unit.rollback_model(space) if space else None
        if number is None:
            raise NotFound("There is no version of the private model to go back from.", reason=Reason.MODEL_MISSING)
        return number


def _last_space(lineage: tuple[Adaptation, ...]) -> str | None:
    """The space of a model that was trained before any memory had a vector."""
    return lineage[-1].version.rpartition("+exp")[0] if lineage else None
