from __future__ import annotations

from pathlib import Path

import pytest

from perdure.hooks.place import BadPlace, Place
from perdure.settings import Settings


def place(tmp_path: Path, **more: str) -> Place:
    return Place({"PERDURE_HOME": str(tmp_path), **more})


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"PERDURE_PORT": "4000"},
        {"PERDURE_URL": "https://memory.example.org/"},
        {"PERDURE_URL": "https://memory.example.org:8443/base"},
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
    here = place(tmp_path, **variables)
    usual = {True: 443, False: 80}[here.secure]
    port = "" if here.port == usual else f":{here.port}"
    assert f"{'https' if here.secure else 'http'}://{here.host}{port}{here.prefix}" == Settings().gateway_url
    assert Path(here.home) == Settings().home


def test_addresses_of_ipv6_and_of_the_mcp_endpoint_are_understood(tmp_path: Path) -> None:
    here = place(tmp_path, PERDURE_URL="http://[::1]:3456/mcp?toolsets=all")
    assert (here.host, here.port, here.prefix) == ("::1", 3456, "")


def test_the_files_of_the_home_are_read_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / "config.env").write_text("# mine\nexport PERDURE_PORT=4001\nPERDURE_TOKEN='pdr_a_b' # x\n")
    assert place(tmp_path).port == 4001
    assert place(tmp_path).token == "pdr_a_b"
    assert place(tmp_path, PERDURE_PORT="4002").port == 4002


def test_a_token_file_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("pdr_a_b\n")
    (tmp_path / "token").chmod(0o644)
    assert place(tmp_path).token == ""
    (tmp_path / "token").chmod(0o600)
    assert place(tmp_path).token == "pdr_a_b"


@pytest.mark.parametrize(
    ("value", "recalls", "captures"),
    [
        ("", True, True),
        ("on", True, True),
        ("off", False, False),
        ("0", False, False),
        ("recall", True, False),
        ("Capture", False, True),
    ],
)
@pytest.mark.requirement("HOOK-OFF-01")
def test_the_user_decides_what_hooks_do(tmp_path: Path, value: str, recalls: bool, captures: bool) -> None:
    here = place(tmp_path, PERDURE_HOOKS=value)
    assert (here.recalls, here.captures) == (recalls, captures)


@pytest.mark.parametrize(
    "variables",
    [
        {"PERDURE_PORT": "x"},
        {"PERDURE_PORT": "0"},
        {"PERDURE_URL": "ftp://x"},
        {"PERDURE_URL": "http://"},
        {"PERDURE_URL": "http://a:b@c"},
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, variables: dict[str, str]) -> None:
    with pytest.raises(BadPlace):
        place(tmp_path, **variables)
