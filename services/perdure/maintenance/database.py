"""Operator's work on the store's file: backup, check, repair, facts. For the command line."""

from __future__ import annotations

from pathlib import Path

from perdure.ports import CheckReport, Progress, StoreInfo
from perdure.settings import Settings
from perdure.store import open_store
from perdure.store.files import FileScreenshots


def backup(settings: Settings, target: Path) -> int:
    """Write a consistent copy to ``target`` while services run, and the pictures of episodes beside it; their bytes.

    The pictures go into the folder ``<target>.episodes``, which is made where there are any.

    Raises:
        AlreadyExists: ``target`` is there already; nothing is overwritten.
        NotFound: there is no store yet.
    """
    store = open_store(settings.store, create=False)
    try:
        # The rows first: a picture that comes later is one too many, one that goes is one that was to be forgotten.
        return store.backup(target) + pictures(settings).copy(target.with_name(f"{target.name}.episodes"))
    finally:
        store.close()


def pictures(settings: Settings) -> FileScreenshots:
    """Where the pictures of episodes are."""
    return FileScreenshots(settings.home / "episodes")


def check(settings: Settings, progress: Progress | None = None) -> CheckReport:
    """Compare rows, vectors, full text and links with each other; changes nothing."""
    store = open_store(settings.store, create=False)
    try:
        return store.check(progress)
    finally:
        store.close()


def repair(settings: Settings, progress: Progress | None = None) -> CheckReport:
    """Rebuild what can be rebuilt from the rows, which stay as they are; the report after it."""
    store = open_store(settings.store, create=False)
    try:
        return store.repair(progress)
    finally:
        store.close()


def info(settings: Settings) -> StoreInfo:
    """Facts about the store."""
    store = open_store(settings.store, create=False)
    try:
        return store.info()
    finally:
        store.close()
