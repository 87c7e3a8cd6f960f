"""The private models in use, kept at hand: search asks for one before each question."""

from __future__ import annotations

import threading
from collections import OrderedDict

from perdure.domain.experience.learning import Adapter
from perdure.domain.namespace import NamespaceName
from perdure.ports import ExperienceReader

KEPT = 128
"""Models kept; one of rank 64 and 384 dimensions is 200 kB."""


class PrivateModels:
    """The newest of each namespace, whoever trained it or went back."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._models: OrderedDict[tuple[NamespaceName, str], tuple[str, Adapter]] = OrderedDict()

    def in_use(self, reader: ExperienceReader, space: str) -> Adapter | None:
        """The model of the reader's namespace for that space, or None; read only where it is not the one kept."""
        place = (reader.scope.namespace, space)
        stamp = reader.adapter_stamp(space)
        if not stamp:
            return None
        with self._lock:
            kept = self._models.get(place)
            if kept is not None and kept[0] == stamp:
                self._models.move_to_end(place)
                return kept[1]
        model = reader.adapter(space)
        if model is None:
            return None
        with self._lock:
            self._models[place] = (stamp, model)
            self._models.move_to_end(place)
            while len(self._models) > self._kept:
                self._models.popitem(last=False)
        return model
