"""The reference store, in dictionaries."""

from perdure.store.inmemory.store import InMemoryStore

__all__ = ["InMemoryStore"]
