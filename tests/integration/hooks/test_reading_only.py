"""Hooks of a host that only reads: they recall; they store, deliver and ask for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hook_payloads import DECISION, payload
from support.hook_process import command, run_hook
from support.rest_gateway import RestGateway


@pytest.mark.parametrize("way", ["option", "variable"])
@pytest.mark.requirement("I4-READONLY-03", "I4-DEFECT-BF-25")
def test_a_hook_that_only_reads_recalls_and_stores_nothing(
    gateway: RestGateway, home: Path, shop: Path, way: str
) -> None:
    more = {"PERDURE_READONLY": "1"} if way == "variable" else {}

    def ran(event: str, **fields: object) -> bytes:
        body = payload("claude", event, cwd=str(shop), **fields)
        words = [*command("claude", event), *(["--readonly"] if way == "option" else [])]
        return run_hook("claude", event, body, home=home, url=gateway.url, words=words, **more).stdout

    assert DECISION in ran("UserPromptSubmit").decode()
    started = ran("SessionStart").decode()
    assert "memory_search" in started
    assert "memory_save" not in started
    for event in ("Stop", "PreCompact", "PostCompact", "SessionEnd"):
        assert ran(event, last_assistant_message=DECISION) == b""
    assert {asked.method for asked in gateway.asked} == {"GET"}
    assert list(home.glob("spool/*")) == []


def test_what_other_hosts_left_in_the_spool_waits_for_a_hook_that_may_write(
    gateway: RestGateway, home: Path, shop: Path
) -> None:
    body = payload("claude", "Stop", cwd=str(shop), last_assistant_message=DECISION)
    run_hook("claude", "stop", body, home=home, url="http://127.0.0.1:9")
    waiting = list(home.glob("spool/*.json"))
    assert waiting

    run_hook("claude", "x", payload("claude", "SessionStart", cwd=str(shop)), home=home, url=gateway.url,
             PERDURE_READONLY="1")  # fmt: skip
    assert list(home.glob("spool/*.json")) == waiting
