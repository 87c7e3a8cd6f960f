"""Where a namespace's vectors lie, on every backend."""

import numpy as np

from perdure.domain.namespace import DEFAULT_NAMESPACE, Actor, Scope
from perdure.ports import Store
from support.store_samples import memory, vector

SCOPE = Scope(DEFAULT_NAMESPACE)
ACTOR = Actor(name="test")
SPACE = "test-space"


def test_an_empty_namespace_has_no_centre(store: Store) -> None:
    with store.read(SCOPE) as reader:
        assert reader.centre(SPACE) is None


def test_the_centre_is_the_mean_of_the_vectors_and_follows_every_change(store: Store) -> None:
    kept = []
    for seed in range(4):
        with store.write(SCOPE, ACTOR) as unit:
            saved = memory(f"Statement number {seed} of four.")
            unit.add(saved, vector=vector(seed), space=SPACE)
            kept.append(saved)
        with store.read(SCOPE) as reader:
            centre = reader.centre(SPACE)
        assert centre is not None
        assert centre.count == seed + 1
        np.testing.assert_allclose(centre.mean, np.mean([vector(n) for n in range(seed + 1)], axis=0), atol=1e-6)
    with store.write(SCOPE, ACTOR) as unit:
        unit.purge(kept[0].id)
    with store.read(SCOPE) as reader:
        centre = reader.centre(SPACE)
    assert centre is not None
    assert centre.count == 3
    np.testing.assert_allclose(centre.mean, np.mean([vector(n) for n in (1, 2, 3)], axis=0), atol=1e-6)
