from __future__ import annotations

from typing import Any

import pytest

from perdure.installer.entry import Remote, is_ours, updated
from perdure.installer.refusal import Refused


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/opt/venv/bin/perdure-bridge"},
        {"command": "C:\\Users\\a\\venv\\Scripts\\perdure-bridge.exe", "args": []},
        {"command": "/usr/bin/python3", "args": ["-m", "perdure.bridge.main"]},
        {"command": "cmd", "args": ["/c", "perdure-bridge"]},
        {"type": "local", "command": ["/x/perdure-bridge"]},
        {"cmd": "/x/perdure-bridge", "type": "stdio"},
        {"url": "http://127.0.0.1:3456/mcp"},
        {"serverUrl": "https://m.example/mcp?toolsets=all"},
    ],
)
def test_our_entries_are_known_in_every_hosts_words(entry: Any) -> None:
    assert is_ours(entry)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "perdure-other"]},
        {"command": "/x/not-perdure-bridge"},
        {"url": "https://example.org/sse"},
        {},
        [],
        "perdure-bridge",
        None,
        {"command": 3},
    ],
)
def test_anothers_entry_of_our_name_is_not_ours(entry: Any) -> None:
    assert not is_ours(entry)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://m.example", "https://m.example/mcp"),
        ("https://m.example/mcp/", "https://m.example/mcp"),
        ("http://[::1]:3456/mcp?toolsets=all", "http://[::1]:3456/mcp?toolsets=all"),
        ("https://m.example/team/", "https://m.example/team/mcp"),
    ],
)
def test_an_address_is_completed(given: str, url: str) -> None:
    assert Remote.of(given, None).url == url


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("m.example", None),
        ("ftp://m.example", None),
        ("https://", None),
        ("https://user:pdr_secret@m.example", None),
        ("https://m.example/mcp?token=pdr_secret", None),
        ("https://m.example/ mcp", None),
        ("https://m.example", "pdr_secret-token"),
        ("https://m.example", ""),
    ],
)
def test_an_address_with_a_token_or_a_token_for_a_name_is_refused_and_not_repeated(url: str, variable: str) -> None:
    with pytest.raises(Refused) as refusal:
        Remote.of(url, variable)
    assert "secret" not in str(refusal.value)


def test_an_update_keeps_what_the_person_chose() -> None:
    old = {
        "command": "/old/perdure-bridge",
        "args": ["--old"],
        "env": {"PERDURE_AUTOSTART": "0", "PERDURE_URL": "https://gone", "PERDURE_TOKEN": "pdr_x"},
        "disabled": True,
        "autoApprove": ["memory_search"],
    }
    new = {"command": "/new/perdure-bridge", "args": [], "disabled": False, "autoApprove": []}

    assert updated(old, new) == {
        "command": "/new/perdure-bridge",
        "args": [],
        "env": {"PERDURE_AUTOSTART": "0"},
        "disabled": True,
        "autoApprove": ["memory_search"],
    }


def test_an_update_to_an_address_keeps_no_way_of_the_old_entry() -> None:
    old = {
        "command": "/old/perdure-bridge",
        "env": {"A": "b"},
        "headers": {"Authorization": "Bearer pdr_x"},
        "timeout": 9,
    }

    assert updated(old, {"url": "https://m/mcp"}) == {"url": "https://m/mcp", "timeout": 9}
