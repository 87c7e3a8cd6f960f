"""The plugin for Claude Code says what the rest of the code says; `make mcp-tools` validates and installs it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from perdure import __version__
from perdure.cli.main import COMMANDS
from perdure.hooks.specs import SPECS

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "deploy" / "claude-plugin"
PARTS = ("stats", "clean", "compact", "health", "start", "why")


def test_the_marketplace_leads_to_the_plugin() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    assert [(ROOT / plugin["source"]).resolve() for plugin in market["plugins"]] == [PLUGIN]
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert (manifest["name"], manifest["version"]) == ("perdure", __version__)
    assert market["plugins"][0]["description"] == manifest["description"]


@pytest.mark.requirement("I4-PLUGIN-01")
def test_the_hooks_are_those_that_connect_would_register() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    assert hooks.keys() == {event["event"] for event in SPECS["claude"]["events"]}
    for event in SPECS["claude"]["events"]:
        [group] = hooks[event["event"]]
        [handler] = group["hooks"]
        assert handler == {**event["handler"], "command": "perdure-hook"}
        assert group.get("matcher", "") == (event["matcher"] or "")


def test_the_server_is_the_bridge_without_an_address_so_that_it_may_start_the_services() -> None:
    servers = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))["mcpServers"]
    assert servers == {"memory": {"command": "perdure-bridge"}}


@pytest.mark.requirement("I4-PLUGIN-02")
@pytest.mark.parametrize("name", ["perdure", *PARTS])
def test_a_command_names_only_commands_that_there_are(name: str) -> None:
    text = (PLUGIN / "commands" / f"{name}.md").read_text("utf-8")
    _, front, body = text.split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["description"]
    assert fields["allowed-tools"] == "Bash(perdure:*)"
    named = set(re.findall(r"`perdure ([a-z-]+)", body))
    assert named
    assert named <= COMMANDS.keys()
    if name == "perdure":
        assert all(f"`{part}`" in body for part in PARTS)
