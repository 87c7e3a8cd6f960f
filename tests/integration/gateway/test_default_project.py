"""A call that names no project means the one that the client said it is in; a call that names one means that."""

import pytest
from mcp import Client

from integration.gateway.test_reading_only import connected, said
from perdure.domain.memory import PROJECT_CHARS_MAX
from perdure.project import PROJECT_CHARS_MAX as CHARS_MAX_OF_A_FOLDERS
from support.fake_backends import FakeServices


async def projects(services: FakeServices, client: Client, **named: object) -> list[str]:
    """Where a save and a checkpoint go."""
    services.memories.rows.clear()
    await said(client, "memory_save", content="We use Postgres 16.", **named)
    await said(client, "memory_checkpoint", task_summary="Done", problem="P", solution="S", concepts=["c"], **named)
    return [memory.statement.project for memory in services.memories.rows.values()]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/mcp", {"Perdure-Project": "L%C3%A4den%20%2F%20shop"}),
        ("/mcp?project=L%C3%A4den%20/%20shop", {}),
        ("/mcp?toolsets=all&project=L%C3%A4den+/+shop", {"Perdure-Project": "%00"}),
    ],
)
@pytest.mark.requirement("I4-PROJECT-01")
async def test_the_clients_project_is_taken_where_a_call_names_none(path: str, headers: dict[str, str]) -> None:
    services = FakeServices()
    async with connected(services, path, headers) as client:
        assert await projects(services, client) == ["Läden / shop"] * 2
        assert await projects(services, client, project=None) == ["Läden / shop"] * 2
        assert await projects(services, client, project="other") == ["other"] * 2
        assert await projects(services, client, project="_global") == ["_global"] * 2
        assert "Läden / shop" in await said(client, "memory_sync")


@pytest.mark.parametrize("value", ["", "%0A", "x" * (PROJECT_CHARS_MAX + 1)])
async def test_without_a_usable_name_a_memory_belongs_everywhere(value: str) -> None:
    services = FakeServices()
    async with connected(services, "/mcp", {"Perdure-Project": value}) as client:
        assert await projects(services, client) == ["_global"] * 2


def test_a_folders_name_is_never_longer_than_a_projects_may_be() -> None:
    assert CHARS_MAX_OF_A_FOLDERS == PROJECT_CHARS_MAX
