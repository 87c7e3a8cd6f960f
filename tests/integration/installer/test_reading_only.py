"""``connect --readonly``: entries and hooks that only read, and back again.

Builderforce Memory ignored the switch for an entry that was there (22), and installed with it a hook that demanded a
tool which then did not exist (25).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from perdure.cli.failure import Exit
from perdure.cli.main import run
from perdure.hooks.answers import hears
from perdure.hooks.hosts import kind_of
from perdure.hooks.specs import SPECS
from perdure.installer.entry import only_reads
from perdure.installer.hooking import hooks_file
from perdure.installer.hosts import HOSTS, Form, Host
from perdure.installer.machine import Scope, this_machine

by_host = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.id)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    hosts = ("PERDURE_", "XDG_", "CODEX_", "CLAUDE_", "CLINE_")
    for name in [name for name in os.environ if name.startswith(hosts)]:
        monkeypatch.delenv(name)
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(work)
    return home


def text_of(host: Host) -> str:
    return host.file(this_machine(), Scope.USER).read_text(encoding="utf-8")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@by_host
@pytest.mark.requirement("I4-READONLY-03", "I4-DEFECT-BF-22")
def test_an_entry_follows_when_the_switch_changes(host: Host, home: Path) -> None:
    assert run(["connect", host.id]) == Exit.OK
    writing = files_of(home)
    assert "--readonly" not in text_of(host)

    assert run(["connect", host.id, "--readonly"]) == Exit.OK
    assert text_of(host).count("--readonly") == 1 + (_shared(host) and _reading_events(host))
    reading = files_of(home)
    assert run(["connect", host.id, "--readonly"]) == Exit.OK
    assert files_of(home) == reading

    assert run(["connect", host.id]) == Exit.OK
    assert files_of(home) == reading, "who does not say it changes nothing"
    assert run(["connect", host.id, "--no-readonly"]) == Exit.OK
    assert files_of(home) == writing
    assert run(["connect", host.id, "--readonly"]) == Exit.OK
    assert run(["disconnect"]) == Exit.OK
    assert files_of(home) == {}


def _shared(host: Host) -> bool:
    """Whether hooks and servers are in one file."""
    here = this_machine()
    return hooks_file(host, here) == host.file(here, Scope.USER)


def _reading_events(host: Host) -> int:
    rows = SPECS[host.hooks]["events"] if host.hooks else []
    return sum(hears(str(host.hooks), kind_of(row["event"])) for row in rows)


@pytest.mark.parametrize("host", [host for host in HOSTS if host.hooks], ids=lambda host: host.id)
@pytest.mark.requirement("I4-READONLY-03", "I4-DEFECT-BF-25")
def test_hooks_of_a_host_that_only_reads_run_where_they_can_recall_and_nowhere_else(host: Host, home: Path) -> None:
    path = hooks_file(host, this_machine())
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = SPECS[str(host.hooks)]
    theirs = '{"hooks": []} // mine\n' if "list" in spec else '{"hooks": {"EVENT": []}} // mine\n'
    theirs = theirs.replace("EVENT", spec["events"][-1]["event"])
    path.write_text(theirs, encoding="utf-8")

    assert run(["connect", host.id]) == Exit.OK
    assert run(["connect", host.id, "--readonly"]) == Exit.OK

    text = path.read_text(encoding="utf-8")
    events = json.loads(text.partition(" // mine")[0])["hooks"]
    if "list" in spec:
        events = {element["trigger"]: element for element in events}
    ours = {event for event, listed in events.items() if "perdure" in json.dumps(listed)}
    assert ours == {row["event"] for row in spec["events"] if hears(str(host.hooks), kind_of(row["event"]))}
    assert all("--readonly" in json.dumps(events[event]) for event in ours)
    assert not re.search(r"(?i)\b(?:stop|afteragent\b|sessionend|precompact)\W+\[\W*\{", text)

    assert run(["connect", host.id, "--no-readonly"]) == Exit.OK
    assert "--readonly" not in path.read_text(encoding="utf-8")
    assert run(["disconnect"]) == Exit.OK
    assert path.read_text(encoding="utf-8") == theirs


@by_host
@pytest.mark.requirement("I4-READONLY-03")
def test_an_address_asks_to_read_only(host: Host, home: Path) -> None:
    address = ["--http", "https://m.example/mcp?toolsets=all&readonly=0"]
    assert run(["connect", host.id, *address, "--readonly"]) == Exit.OK

    text = text_of(host)
    assert "https://m.example/mcp?toolsets=all&readonly=1" in text
    # a host that cannot be told an address runs the bridge, which is told too
    assert ("--readonly" in text) == (host.remote is None)
    assert run(["connect", host.id, *address[:1], "https://m.example/mcp"]) == Exit.OK
    assert "readonly=1" in text_of(host), "who does not say it changes nothing"
    assert run(["connect", host.id, *address[:1], "https://m.example/mcp", "--no-readonly"]) == Exit.OK
    assert "readonly" not in text_of(host)


def test_the_printed_entry_and_the_dry_run_say_it_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".cursor").mkdir()
    assert run(["connect", "--print", "codex", "--readonly"]) == Exit.OK
    assert "--readonly" in capsys.readouterr().out
    assert run(["connect", "--dry-run", "--readonly"]) == Exit.OK
    assert '"--readonly"' in capsys.readouterr().out
    assert files_of(home) == {}


def test_choices_of_the_person_stay_when_the_switch_changes(home: Path) -> None:
    host = next(host for host in HOSTS if host.id == "cline" and host.form is Form.JSON)
    run(["connect", "cline"])
    path = host.file(this_machine(), Scope.USER)
    path.write_text(path.read_text(encoding="utf-8").replace('"autoApprove": []', '"autoApprove": ["memory_search"]'))

    assert run(["connect", "cline", "--readonly"]) == Exit.OK

    entry = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["perdure"]
    assert (entry["args"][-1], entry["autoApprove"]) == ("--readonly", ["memory_search"])


@pytest.mark.parametrize("way", [["--no-hooks"], ["--readonly", "--http", "https://m.example"]])
@pytest.mark.requirement("I4-READONLY-03")
def test_hooks_of_an_earlier_time_do_not_go_on_where_nothing_is_to_run_or_be_stored(home: Path, way: list[str]) -> None:
    run(["connect", "claude", "cursor"])
    hooked = [path for path in files_of(home) if path.endswith(("settings.json", "hooks.json"))]
    assert len(hooked) == 2

    assert run(["connect", "claude", "cursor", *way]) == Exit.OK

    assert [path for path in files_of(home) if path in hooked] == []


@pytest.mark.parametrize(
    ("entry", "reads"),
    [
        ({"command": "/x/perdure-bridge", "args": ["--readonly"]}, True),
        ({"type": "local", "command": ["/x/perdure-bridge", "--readonly"]}, True),
        ({"command": "/x/perdure-bridge", "env": {"PERDURE_READONLY": "1"}}, True),
        ({"command": "/x/perdure-bridge", "env": {"PERDURE_READONLY": "0"}}, False),
        ({"url": "https://m.example/mcp?a=b&readonly"}, True),
        ({"url": "https://m.example/mcp?readonly=off"}, False),
        ({"command": "/x/perdure-bridge", "args": []}, False),
        (None, False),
    ],
)
def test_an_entry_tells_whether_it_only_reads(entry: object, reads: bool) -> None:
    assert only_reads(entry) == reads


@pytest.mark.requirement("I4-READONLY-03")
def test_hooks_that_two_hosts_share_only_read_where_one_of_them_does(home: Path) -> None:
    here = this_machine()
    shared = {}
    for host in HOSTS:
        shared.setdefault(hooks_file(host, here), []).append(host.id)
    for path, ids in shared.items():
        if path is None or len(ids) < 2:
            continue
        assert run(["connect", ids[0], "--readonly"]) == Exit.OK
        assert run(["connect", *ids[1:]]) == Exit.OK
        assert "--readonly" in path.read_text(encoding="utf-8")
        assert run(["connect", *ids, "--no-readonly"]) == Exit.OK
        assert "--readonly" not in path.read_text(encoding="utf-8")
