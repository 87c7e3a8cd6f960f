"""How processes begin."""

import pytest

from perdure import starting
from perdure.errors import FailedPrecondition
from perdure.settings import Settings


def test_a_malformed_setting_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PERDURE_PORT", "abc")
    assert starting.run("worker", lambda _: None) == starting.EXIT_REFUSED
    assert "PERDURE_PORT" in capsys.readouterr().err


def test_a_process_that_may_not_start_says_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: Settings) -> None:
        raise FailedPrecondition("The store is newer than this Perdure.")

    assert starting.run("retrieval", body) == starting.EXIT_REFUSED
    said = capsys.readouterr().err
    assert said.splitlines() == ["The retrieval process does not start: The store is newer than this Perdure."]
