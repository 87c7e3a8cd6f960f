from pathlib import Path

import pytest

from perdure.bridge.target import BadTarget, Target


def target(warnings: list[str] | None = None, **variables: str) -> Target:
    return Target(variables, (warnings if warnings is not None else []).append)


def test_without_settings_it_is_the_local_gateway_which_may_be_started() -> None:
    local = target()
    assert (local.url, local.path, local.loopback, local.autostart) == ("http://127.0.0.1:3456", "/mcp", True, True)


def test_the_port_is_the_gateways_own_setting_and_leaves_autostart() -> None:
    local = target(PERDURE_PORT="4000")
    assert (local.url, local.autostart) == ("http://127.0.0.1:4000", True)


@pytest.mark.parametrize(
    ("url", "base", "path"),
    [
        ("https://memory.example.org", "https://memory.example.org:443", "/mcp"),
        ("https://memory.example.org/team/", "https://memory.example.org:443/team", "/team/mcp"),
        ("http://10.0.0.2:8080/mcp", "http://10.0.0.2:8080", "/mcp"),
        ("http://10.0.0.2:8080/mcp/?toolsets=all", "http://10.0.0.2:8080", "/mcp?toolsets=all"),
        ("http://[::1]:3456", "http://[::1]:3456", "/mcp"),
    ],
)
def test_a_url_may_have_a_prefix_a_query_or_the_endpoint_itself(url: str, base: str, path: str) -> None:
    there = target(PERDURE_URL=url)
    assert (there.url, there.path, there.autostart) == (base, path, False)


@pytest.mark.parametrize(
    "url",
    ["memory.example.org", "ftp://x", "http://", "http://x:99999", "http://x:0", "http://a b", "http://x/\r\nA: b"],
)
def test_an_address_that_cannot_be_used_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(BadTarget, match="PERDURE_URL must look like"):
        target(PERDURE_URL=url)


def test_credentials_in_the_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(BadTarget, match="PERDURE_TOKEN") as caught:
        target(PERDURE_URL="https://me:hush@memory.example.org")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("port", ["0", "70000", "x", "-1", "٣٤٥٦", "9" * 5000])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(BadTarget, match="PERDURE_PORT"):
        target(PERDURE_PORT=port)


@pytest.mark.parametrize(
    "variables", [{"PERDURE_TOKEN": "t"}, {"PERDURE_AUTOSTART": "0"}, {"PERDURE_URL": "http://127.0.0.1:1"}]
)
def test_any_configuration_of_a_place_forbids_starting_services(variables: dict[str, str]) -> None:
    assert not target(**variables).autostart


def test_the_settings_file_of_the_home_counts_as_it_does_for_the_services(tmp_path: Path) -> None:
    (tmp_path / "config.env").write_text("# mine\nexport PERDURE_PORT='4001' # two homes\nnonsense\n")
    assert target(PERDURE_HOME=str(tmp_path)).url == "http://127.0.0.1:4001"
    assert target(PERDURE_HOME=str(tmp_path)).autostart
    assert target(PERDURE_HOME=str(tmp_path), PERDURE_PORT="4002").url == "http://127.0.0.1:4002"


def test_a_place_in_the_settings_file_forbids_starting_services(tmp_path: Path) -> None:
    (tmp_path / "config.env").write_text('PERDURE_URL="https://memory.example.org"\nPERDURE_TOKEN=abc # x\n')
    there = target(PERDURE_HOME=str(tmp_path))
    assert (there.url, there.token(), there.autostart) == ("https://memory.example.org:443", "abc", False)
    assert there.without_token("no abc here") == "no [token] here"


def test_the_token_of_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of-the-file\n")
    (tmp_path / "token").chmod(0o600)
    assert target(PERDURE_HOME=str(tmp_path), PERDURE_TOKEN="of-the-environment").token() == "of-the-environment"
    assert target(PERDURE_HOME=str(tmp_path)).token() == "of-the-file"


def test_a_token_file_written_later_is_seen(tmp_path: Path) -> None:
    there = target(PERDURE_HOME=str(tmp_path))
    assert there.token() is None
    (tmp_path / "token").touch(0o600)
    (tmp_path / "token").write_text("now")
    assert there.token() == "now"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_token_file_that_others_can_read_is_not_used_and_said_once(tmp_path: Path, mode: int) -> None:
    (tmp_path / "token").write_text("secret")
    (tmp_path / "token").chmod(mode)
    warnings: list[str] = []
    there = target(warnings, PERDURE_HOME=str(tmp_path))
    assert (there.token(), there.token()) == (None, None)
    assert len(warnings) == 1
    assert "chmod 600" in warnings[0]


@pytest.mark.parametrize("token", ["a\r\nX-Evil: 1", "a b", "tökén"])
def test_a_token_that_no_header_can_carry_is_not_sent_nor_shown(token: str) -> None:
    warnings: list[str] = []
    assert target(warnings, PERDURE_TOKEN=token).token() is None
    assert token not in "".join(warnings)


def test_a_home_of_nobody_is_refused_with_a_sentence() -> None:
    with pytest.raises(BadTarget, match="PERDURE_HOME"):
        target(PERDURE_HOME="~no-such-user-here/perdure")
