from __future__ import annotations

import json

from integration.cli.conftest import Command
from support.rest_gateway import Answered, RestGateway


def test_archive_and_restore_carry_the_revision_they_are_based_on(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["DELETE /memories/0197-1"] = {"archived": "0197-1", "revision": 3}
    gateway.routes["POST /memories/0197-1/restore"] = {"restored": "0197-1", "revision": 4}
    assert perdure("archive", "0197-1", "--revision", "2").status == 0
    assert gateway.last.headers["if-match"] == '"2"'
    assert gateway.last.query == []
    assert json.loads(perdure("restore", "0197-1", "--json").out) == {"restored": "0197-1", "revision": 4}


def test_purge_without_a_terminal_needs_a_yes(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /memories/0197-1"] = {"id": "0197-1", "summary": "s"}
    gateway.routes["DELETE /memories/0197-1"] = {"purged": "0197-1"}
    refused = perdure("purge", "0197-1")
    assert refused.status == 2
    assert "--yes" in refused.err
    assert [asked.method for asked in gateway.asked] == ["GET"]
    assert perdure("purge", "0197-1", "--yes").status == 0
    assert gateway.last.query == [("purge", "true")]


def test_purge_of_an_unknown_memory_is_not_found_before_it_is_asked_about(
    perdure: Command, gateway: RestGateway
) -> None:
    assert perdure("purge", "0197-9").status == 3


def test_sync_stats_and_prompt_print_what_the_gateway_says(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["POST /memories/sync"] = {
        "status": "ready",
        "active_memories": 2,
        "projects": {"shop": 2},
        "message": "2 active memories.",
        "recent": [{"summary": "A thing", "type": "fact"}],
    }
    gateway.routes["GET /memories/stats"] = {"active": 2, "total": 3, "by_type": {"fact": 2}, "by_project": {"shop": 2}}
    gateway.routes["GET /memories/instructions"] = Answered(raw=b"Sync first.\n", content_type="text/plain")
    assert "shop (2)" in perdure("sync", "-p", "shop").out
    assert gateway.last.body == {"project": "shop"}
    assert "fact\t2" in perdure("stats").out
    assert perdure("prompt").out == "Sync first.\n"


def test_health_names_each_part_and_fails_when_one_is_away(perdure: Command, gateway: RestGateway) -> None:
    assert perdure("health").status == 0
    body = {"status": "degraded", "dependencies": {"retrieval": "ready", "embedding": "away"}}
    gateway.routes["GET /readyz"] = Answered(body, 503)
    ran = perdure("health")
    assert ran.status == 5
    assert "embedding\taway" in ran.out
    assert "perdure doctor" in ran.err
