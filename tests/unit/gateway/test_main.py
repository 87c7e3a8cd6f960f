import socket

import pytest

from perdure.gateway.__main__ import EXIT_USAGE, listening, main


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path))


@pytest.mark.requirement("ACCESS-02")
def test_a_public_bind_without_tokens_does_not_start(monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PERDURE_BIND", "0.0.0.0")
    assert main() == EXIT_USAGE
    assert "PERDURE_AUTH=token" in capsys.readouterr().err


def test_a_taken_port_is_said_in_a_sentence(monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    with listening("127.0.0.1", 0) as sock:
        monkeypatch.setenv("PERDURE_PORT", str(sock.getsockname()[1]))
        assert main() == EXIT_USAGE
    assert "is taken" in capsys.readouterr().err


def test_a_malformed_setting_is_named(monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PERDURE_PORT", "http")
    assert main() == EXIT_USAGE
    assert "PERDURE_PORT" in capsys.readouterr().err


def test_the_socket_is_of_the_asked_family() -> None:
    with listening("::1", 0) as sock:
        assert sock.family is socket.AF_INET6
