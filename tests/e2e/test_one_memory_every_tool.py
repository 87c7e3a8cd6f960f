"""A memory saved with one tool is found with each of the others (issue 2, done when 2)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.stack import Stack, running
from support.surfaces import every_surface, over_http, over_the_bridge, said

pytestmark = pytest.mark.e2e

STATEMENTS = {
    "command line": "Invoices are numbered from the warehouse clock",
    "REST": "Zebras graze behind the laboratory fence",
    "MCP over HTTP legacy": "Harbour pilots prefer granite moorings",
    "MCP over HTTP modern": "Violins dislike humid cellars",
    "bridge legacy": "Kettles whistle below ninety degrees upstairs",
    "bridge modern": "Orchids bloom beside turbine exhausts",
}


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as started:
        yield started


@pytest.mark.requirement("DONE-02", "CLI-08", "MCP-01", "SAVE-01")
async def test_what_one_tool_saves_every_other_finds(stack: Stack) -> None:
    async with every_surface(stack) as surfaces:
        assert surfaces.keys() == STATEMENTS.keys()
        ids = {name: await surfaces[name].save(text) for name, text in STATEMENTS.items()}
        assert len(set(ids.values())) == len(STATEMENTS)
        missed = []
        for reader, surface in surfaces.items():
            for writer, text in STATEMENTS.items():
                found = await surface.search(" ".join(text.split()[:3]).lower())
                if text not in found:
                    missed.append(f"saved by {writer}, searched by {reader}")
        assert missed == []


@pytest.mark.requirement("MCP-01")
async def test_the_clients_speak_the_era_they_were_told_to(stack: Stack) -> None:
    for connect in (over_http, over_the_bridge):
        async with connect(stack, "legacy") as client:
            await said(client, "memory_stats")
            assert client.protocol_version == "2025-11-25"
        async with connect(stack, "modern") as client:
            await said(client, "memory_stats")
            assert client.protocol_version == "2026-07-28"


@pytest.mark.requirement("SAVE-15")
async def test_what_one_tool_corrects_every_other_finds_corrected(stack: Stack) -> None:
    async with every_surface(stack) as surfaces:
        memory = await surfaces["REST"].save("Lighthouse keepers drink oolong on Mondays")
        async with over_the_bridge(stack, "modern") as client:
            await said(client, "memory_update", id=memory, content="Lighthouse keepers drink rooibos on Mondays")
        for name, surface in surfaces.items():
            found = await surface.search("lighthouse keepers drink")
            assert "rooibos" in found, name
            assert "oolong" not in found, name


@pytest.mark.requirement("SAVE-02")
async def test_one_text_said_with_every_tool_is_one_memory(stack: Stack) -> None:
    text = "Penguins commute by ferry in winter"
    async with every_surface(stack) as surfaces:
        first = await surfaces["command line"].save(text)
        assert await surfaces["REST"].save(f"  {text.upper()} ") == first
        for name in STATEMENTS.keys() - {"command line", "REST"}:
            way, era = name.rsplit(" ", 1)
            async with (over_the_bridge if way == "bridge" else over_http)(stack, era) as client:
                again = await said(client, "memory_save", content=text)
                assert again.startswith("Already known"), name
                assert first in again, name
