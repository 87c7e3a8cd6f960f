from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from perdure.cli.main import run
from support.rest_gateway import RestGateway, serving


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture
def gateway() -> Iterator[RestGateway]:
    yield from serving()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PERDURE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path / "home"))
    # a home is nobody's project, so that a command that names none means none
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def perdure(
    home: Path, gateway: RestGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command in this process against the scripted gateway."""
    monkeypatch.setenv("PERDURE_PORT", str(gateway.port))

    def command(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogateescape"))))
        status = run(arguments)
        out, err = capsys.readouterr()
        return Ran(int(status), out, err)

    return command
