from __future__ import annotations

from pathlib import Path

import pytest

from perdure.cli.failure import Failure
from perdure.cli.place import Place, read_env_file
from perdure.settings import Settings


def place(tmp_path: Path, **more: str) -> Place:
    return Place({"PERDURE_HOME": str(tmp_path), **more})


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"PERDURE_PORT": "4000"},
        {"PERDURE_URL": "https://memory.example.org/"},
        {"PERDURE_URL": "http://127.0.0.1:9/base", "PERDURE_PORT": "4000"},
    ],
)
def test_the_gateway_is_where_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name in ("PERDURE_URL", "PERDURE_PORT", "PERDURE_BIND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert place(tmp_path, **variables).url == settings.gateway_url
    assert place(tmp_path, **variables).home == settings.home


def test_the_files_of_the_home_are_read_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / "config.env").write_text("# mine\nexport PERDURE_PORT=4001\nPERDURE_TOKEN='pdr_a_b' # x\n")
    assert place(tmp_path).url == "http://127.0.0.1:4001"
    assert place(tmp_path).token == "pdr_a_b"
    assert place(tmp_path, PERDURE_PORT="4002").url == "http://127.0.0.1:4002"


def test_env_files_are_read_as_dotenv_reads_them(tmp_path: Path) -> None:
    from dotenv import dotenv_values

    file = tmp_path / "config.env"
    file.write_text("A=1\nB=\"two words\" # c\n  C = spaced \nexport D='#no'\nE=\n# F=6\nG=a#b\n", encoding="utf-8")
    assert read_env_file(file) == dotenv_values(file)


def test_a_token_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("pdr_a_b\n")
    (tmp_path / "token").chmod(0o644)
    found = place(tmp_path)
    assert found.token == ""
    assert "chmod 600" in found.warnings[0]
    (tmp_path / "token").chmod(0o600)
    assert place(tmp_path).token == "pdr_a_b"


@pytest.mark.parametrize(
    "variables",
    [
        {"PERDURE_PORT": "x"},
        {"PERDURE_PORT": "0"},
        {"PERDURE_PORT": "99999"},
        {"PERDURE_URL": "ftp://x"},
        {"PERDURE_URL": "http://"},
        {"PERDURE_URL": "http://a b"},
        {"PERDURE_TOKEN": "a\nHost: evil"},
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, variables: dict[str, str]) -> None:
    with pytest.raises(Failure) as caught:
        place(tmp_path, **variables)
    assert next(iter(variables)) in caught.value.message
    assert caught.value.status == 2
