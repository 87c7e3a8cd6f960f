"""Pictures of episodes, kept by their content."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from pathlib import Path

import pytest

from perdure.domain.namespace import NamespaceName, Scope
from perdure.errors import DataCorrupt, InvalidArgument, Reason, Unavailable
from perdure.maintenance import database
from perdure.settings import Settings
from perdure.store import open_store
from perdure.store.files import FileScreenshots
from support.store_samples import HERE

THERE = Scope(NamespaceName("there"))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100
SHA256 = hashlib.sha256(PNG).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "home" / "episodes"


@pytest.fixture
def files(root: Path) -> FileScreenshots:
    return FileScreenshots(root)


def _everything(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_picture_is_read_as_it_was_put_and_is_named_by_its_content(files: FileScreenshots, root: Path) -> None:
    assert files.get(HERE, SHA256) is None
    assert files.put(HERE, PNG) == SHA256
    assert files.get(HERE, SHA256) == PNG
    assert _everything(root) == [f"default/{SHA256}"]


@pytest.mark.requirement("EXP-STORE-07")
def test_only_the_owner_can_read_pictures_whatever_the_umask(files: FileScreenshots, root: Path) -> None:
    before = os.umask(0)
    try:
        files.put(HERE, PNG)
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "default" / SHA256).stat().st_mode) == 0o600
    assert stat.S_IMODE((root / "default").stat().st_mode) == 0o700
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_the_same_picture_twice_is_one_file_that_is_not_written_again(files: FileScreenshots, root: Path) -> None:
    files.put(HERE, PNG)
    inode = (root / "default" / SHA256).stat().st_ino
    assert files.put(HERE, PNG) == SHA256
    assert (root / "default" / SHA256).stat().st_ino == inode


def test_a_namespace_does_not_see_or_delete_the_pictures_of_another(files: FileScreenshots) -> None:
    files.put(HERE, PNG)
    assert files.get(THERE, SHA256) is None
    files.forget(THERE, SHA256)
    assert files.get(HERE, SHA256) == PNG
    files.put(THERE, PNG)
    files.forget(HERE, SHA256)
    assert files.get(THERE, SHA256) == PNG


@pytest.mark.requirement("EXP-STORE-07")
def test_forgetting_deletes_that_picture_and_nothing_beside_it(files: FileScreenshots, root: Path) -> None:
    files.put(HERE, PNG)
    theirs = root / "default" / "notes.txt"
    theirs.write_text("somebody's own", encoding="utf-8")
    (root / "unrelated").mkdir()
    for _ in range(2):
        files.forget(HERE, SHA256)
        assert files.get(HERE, SHA256) is None
    assert _everything(root) == ["default/notes.txt"]
    assert (root / "unrelated").is_dir()


@pytest.mark.parametrize(
    "name", ["", "..", "../secret", "x" * 64, "A" * 64, SHA256 + "\n", SHA256 + "/", "/etc/hostname", "\0" * 64]
)
def test_a_name_that_is_no_hash_is_no_picture_and_leads_nowhere(files: FileScreenshots, root: Path, name: str) -> None:
    files.put(HERE, PNG)
    (root / "secret").write_bytes(b"s")
    assert files.get(HERE, name) is None
    files.forget(HERE, name)
    assert _everything(root) == [f"default/{SHA256}", "secret"]


@pytest.mark.parametrize("name", ["..", ".", "../x", "a/b", "", "/etc"])
def test_a_namespace_that_is_no_name_is_refused(files: FileScreenshots, root: Path, name: str) -> None:
    scope = Scope(NamespaceName(name))
    for act in (
        lambda: files.put(scope, PNG),
        lambda: files.get(scope, SHA256),
        lambda: files.forget(scope, SHA256),
    ):
        with pytest.raises(InvalidArgument):
            act()
    assert not root.exists()


def test_a_link_in_the_place_of_a_picture_is_not_followed(files: FileScreenshots, root: Path, tmp_path: Path) -> None:
    files.put(HERE, PNG)
    secret = tmp_path / "secret"
    secret.write_bytes(PNG)
    place = root / "default" / SHA256
    place.unlink()
    place.symlink_to(secret)
    with pytest.raises(Unavailable):
        files.get(HERE, SHA256)
    files.forget(HERE, SHA256)
    assert secret.read_bytes() == PNG
    assert not place.is_symlink()


def test_a_damaged_picture_is_not_handed_out_and_mended_by_putting_it_again(files: FileScreenshots, root: Path) -> None:
    files.put(HERE, PNG)
    (root / "default" / SHA256).write_bytes(PNG[:-1] + b"?")
    with pytest.raises(DataCorrupt) as caught:
        files.get(HERE, SHA256)
    assert caught.value.reason is Reason.STORE_CORRUPT
    files.put(HERE, PNG)
    assert files.get(HERE, SHA256) == PNG


def test_a_picture_that_could_not_be_written_leaves_nothing(
    files: FileScreenshots, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable) as caught:
        files.put(HERE, PNG)
    assert caught.value.reason is Reason.STORE_FULL
    assert _everything(root) == []


def test_what_a_killed_process_left_half_written_is_cleared_away(files: FileScreenshots, root: Path) -> None:
    files.put(HERE, PNG)
    old, new = root / "default" / ".dead.part", root / "default" / ".busy.part"
    for part in (old, new):
        part.write_bytes(PNG[:10])
    os.utime(old, (1, 1))
    files.put(HERE, PNG + b"2")
    assert not old.exists()
    assert new.exists()


def test_a_copy_for_a_backup_has_every_picture_and_nothing_else(
    files: FileScreenshots, root: Path, tmp_path: Path
) -> None:
    target = tmp_path / "backup"
    assert files.copy(target) == 0
    assert not target.exists()
    files.put(HERE, PNG)
    files.put(THERE, PNG[:100])
    (root / "default" / "notes.txt").write_text("somebody's own", encoding="utf-8")
    (root / "Not ours").mkdir()
    (root / "Not ours" / SHA256).write_bytes(PNG)
    (root / "default" / ("0" * 64)).write_bytes(b"not what its name says")
    assert files.copy(target) == len(PNG) + 100
    copies = FileScreenshots(target)
    assert copies.get(HERE, SHA256) == PNG
    assert copies.get(THERE, hashlib.sha256(PNG[:100]).hexdigest()) == PNG[:100]
    assert len(_everything(target)) == 2


def test_a_backup_of_the_home_puts_the_pictures_beside_the_store(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    open_store(settings.store).close()
    target = tmp_path / "kept.db"
    assert database.backup(settings, target) == target.stat().st_size
    assert not (tmp_path / "kept.db.episodes").exists()
    database.pictures(settings).put(HERE, PNG)
    again = tmp_path / "again.db"
    assert database.backup(settings, again) == again.stat().st_size + len(PNG)
    assert FileScreenshots(tmp_path / "again.db.episodes").get(HERE, SHA256) == PNG


def test_many_that_put_the_same_picture_at_once_all_succeed(files: FileScreenshots, root: Path) -> None:
    gate = threading.Barrier(8)
    answers: list[str] = []

    def put() -> None:
        gate.wait()
        answers.append(FileScreenshots(root).put(HERE, PNG))

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [SHA256] * 8
    assert _everything(root) == [f"default/{SHA256}"]
