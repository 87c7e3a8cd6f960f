"""Save what a finished task taught."""

from __future__ import annotations

from typing import Protocol

from perdure.domain.namespace import Caller
from perdure.domain.saving import Checkpoint, Draft, SaveResult
from perdure.domain.statement import checkpoint_draft


class Saving(Protocol):
    """A save, counted or not."""

    def __call__(self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None) -> SaveResult:
        """What the save did."""


class SaveCheckpoint:
    """Turns a checkpoint into a draft and saves it."""

    def __init__(self, save: Saving) -> None:
        self._save = save

    def __call__(self, caller: Caller, checkpoint: Checkpoint, *, idempotency_key: str | None = None) -> SaveResult:
        """What the save did; errors as ``Save``."""
        return self._save(caller, checkpoint_draft(checkpoint), idempotency_key=idempotency_key)
