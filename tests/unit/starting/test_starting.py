"""How processes begin."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from perdure import starting
from perdure.errors import FailedPrecondition
from perdure.settings import Settings


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Starting a process sets up logging; other tests of this one must not write to a stream that is gone."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_malformed_setting_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PERDURE_PORT", "abc")
    assert starting.run("worker", lambda _: None) == starting.EXIT_REFUSED
    assert "PERDURE_PORT" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["1e12", "-1e12", "nan", "inf"])
def test_a_clock_moved_out_of_all_calendars_is_a_malformed_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seconds: str
) -> None:
    monkeypatch.setenv("PERDURE_CLOCK_OFFSET_S", seconds)
    assert starting.run("retrieval", lambda _: None) == starting.EXIT_REFUSED
    assert "PERDURE_CLOCK_OFFSET_S" in capsys.readouterr().err


def test_a_process_that_may_not_start_says_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: Settings) -> None:
        raise FailedPrecondition("The store is newer than this Perdure.")

    assert starting.run("retrieval", body) == starting.EXIT_REFUSED
    said = capsys.readouterr().err
    assert said.splitlines() == ["The retrieval process does not start: The store is newer than this Perdure."]
