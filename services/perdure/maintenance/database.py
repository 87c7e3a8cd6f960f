"""Operator's work on the store's file: backup, check, repair, facts. For the command line."""

from __future__ import annotations

from pathlib import Path

from perdure.ports import CheckReport, Progress, StoreInfo
from perdure.settings import Settings
from perdure.store import open_store


def backup(settings: Settings, target: Path) -> int:
    """Write a consistent copy to ``target`` while services run; its bytes.

    Raises:
        AlreadyExists: ``target`` is there already; nothing is overwritten.
        NotFound: there is no store yet.
    """
    store = open_store(settings.store, create=False)
    try:
        return store.backup(target)
    finally:
        store.close()


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
