from __future__ import annotations

from pathlib import Path

import pytest

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.skill import Edits
from perdure.domain.namespace import NamespaceName, TokenScope
from perdure.errors import InvalidArgument, NotFound, PermissionDenied, Reason
from perdure.usecases.experience_episodes import SCREENSHOT_BYTES_MAX, Episodes
from support.experience_world import PNG, ExperienceWorld, caller, click, episode, keys, tool, typed

E1 = EpisodeId("e1")
SECRET = "zebra-Quilt.41"


def files(world: ExperienceWorld) -> list[Path]:
    return [path for path in (world.path.parent / "episodes").rglob("*") if path.is_file()]


def test_an_episode_is_saved_listed_replaced_and_forgotten(world: ExperienceWorld) -> None:
    for number in range(3):
        world.record(id_=f"e{number}", startedAt=1_772_000_000_000 + number)
    page = world.episodes.list(world.me, limit=2)
    assert [one.id for one in page.episodes] == ["e2", "e1"]
    rest = world.episodes.list(world.me, limit=2, cursor=page.next)
    assert ([one.id for one in rest.episodes], rest.next) == (["e0"], "")
    world.record([click("Other")], "e1", name="Other")
    assert world.episodes.get(world.me, E1).name == "Other"
    assert world.episodes.forget(world.me, E1)
    assert not world.episodes.forget(world.me, E1)
    with pytest.raises(NotFound) as caught:
        world.episodes.get(world.me, E1)
    assert caught.value.reason is Reason.EPISODE_NOT_FOUND


def test_an_episode_without_an_id_gets_one(world: ExperienceWorld) -> None:
    doc = episode([click("a")], "e9")
    saved = world.episodes.save(world.me, type(doc)(id=EpisodeId(""), name="n", program="p", started_at=doc.started_at))
    assert saved.id
    assert world.episodes.get(world.me, saved.id) == saved


@pytest.mark.requirement("I5-EP-2")
@pytest.mark.requirement("I5-DONE-2")
def test_a_secret_is_in_no_file_of_the_store(world: ExperienceWorld) -> None:
    world.record(
        [
            typed("Colour", SECRET, secret=True),
            typed("Password", SECRET),
            typed("Remark", f"pw {SECRET}"),
            click("PIN"),
            *(keys(char) for char in SECRET),
            tool("login", f"hello {SECRET}", password=SECRET, command=f"x --token {SECRET}"),
        ],
        name=f"With {SECRET}",
        args=["--password", SECRET],
        remark=SECRET,
    )
    skill = world.skills.compile(world.me, E1, Edits(fixed=("s1", "s2")))
    world.store.backup(world.path.parent / "backup.db")
    world.close()
    for path in world.path.parent.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path.name
    assert all(param.default is None for param in skill.params if param.secret)


@pytest.mark.requirement("I5-EP-3")
def test_pictures_are_kept_by_content_and_go_with_the_episode(world: ExperienceWorld) -> None:
    world.record()
    world.record(id_="e2")
    first = world.episodes.put_screenshot(world.me, E1, "one.png", PNG)
    world.episodes.put_screenshot(world.me, E1, "two.png", PNG + b"2")
    world.episodes.put_screenshot(world.me, EpisodeId("e2"), "one.png", PNG)
    assert (first.media_type, first.bytes) == ("image/png", len(PNG))
    assert [one.name for one in world.episodes.screenshots(world.me, E1)] == ["one.png", "two.png"]
    assert world.episodes.get_screenshot(world.me, E1, "two.png")[1] == PNG + b"2"
    stranger = world.path.parent / "episodes" / "mine.txt"
    stranger.write_text("stays")
    assert len(files(world)) == 3
    world.episodes.forget(world.me, E1)
    assert len(files(world)) == 2  # the other episode still names one
    world.episodes.forget(world.me, EpisodeId("e2"))
    assert files(world) == [stranger]


def test_a_picture_that_is_replaced_leaves_no_file(world: ExperienceWorld) -> None:
    world.record()
    world.episodes.put_screenshot(world.me, E1, "one.png", PNG)
    world.episodes.put_screenshot(world.me, E1, "one.png", b"\xff\xd8\xff\xe0jpeg")
    assert len(files(world)) == 1
    assert world.episodes.get_screenshot(world.me, E1, "one.png")[0].media_type == "image/jpeg"


@pytest.mark.parametrize("name", ["../up.png", "", ".hidden", "a/b", "a" * 129])
def test_a_picture_s_name_stays_in_its_folder(world: ExperienceWorld, name: str) -> None:
    world.record()
    with pytest.raises(InvalidArgument):
        world.episodes.put_screenshot(world.me, E1, name, PNG)


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"<svg/>", PNG + bytes(SCREENSHOT_BYTES_MAX)])
def test_what_is_no_picture_is_refused(world: ExperienceWorld, data: bytes) -> None:
    world.record()
    with pytest.raises(InvalidArgument):
        world.episodes.put_screenshot(world.me, E1, "one.png", data)
    assert files(world) == []


def test_webp_is_a_picture(world: ExperienceWorld) -> None:
    world.record()
    assert world.episodes.put_screenshot(world.me, E1, "a", b"RIFF\0\0\0\0WEBPVP8 ").media_type == "image/webp"


def test_pictures_of_nothing_are_not_found(world: ExperienceWorld) -> None:
    with pytest.raises(NotFound):
        world.episodes.put_screenshot(world.me, E1, "one.png", PNG)
    world.record()
    with pytest.raises(NotFound) as caught:
        world.episodes.get_screenshot(world.me, E1, "one.png")
    assert caught.value.reason is Reason.SCREENSHOT_NOT_FOUND


def test_another_process_sees_what_was_saved(world: ExperienceWorld) -> None:
    other = world.another_store()
    episodes = Episodes(other, world.files, world.clock, world.ids)
    world.record()
    assert episodes.get(world.me, E1).name == "Pay a bill"
    other.close()


def test_only_who_may_use_experience_gets_at_it(world: ExperienceWorld) -> None:
    reader = caller(TokenScope.READ, TokenScope.WRITE)
    for call in (
        lambda: world.episodes.save(reader, episode([click("a")])),
        lambda: world.episodes.list(reader, limit=5),
        lambda: world.episodes.get(reader, E1),
        lambda: world.episodes.forget(reader, E1),
        lambda: world.skills.list(reader, limit=5),
        lambda: world.runs.list(reader, limit=5),
        lambda: world.skills.due(reader, holder="h"),
    ):
        with pytest.raises(PermissionDenied):
            call()
    assert world.episodes.list(caller(TokenScope.ADMIN), limit=5).episodes == ()


def test_another_namespace_sees_nothing(world: ExperienceWorld) -> None:
    world.record()
    with world.store.access() as unit:
        unit.create_namespace(NamespaceName("other"), world.clock.now())
    other = caller(TokenScope.EXPERIENCE, namespace=NamespaceName("other"))
    assert world.episodes.list(other, limit=5).episodes == ()
    with pytest.raises(NotFound):
        world.episodes.get(other, E1)


@pytest.mark.parametrize("limit", [0, 501])
def test_a_page_has_one_to_five_hundred(world: ExperienceWorld, limit: int) -> None:
    with pytest.raises(InvalidArgument):
        world.episodes.list(world.me, limit=limit)
