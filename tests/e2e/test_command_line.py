"""The command line against the real services, as a person uses it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.stack import Stack, running, wait_until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as started:
        yield started


@pytest.mark.requirement("CLI-08")
def test_what_is_added_is_found_listed_changed_and_erased(stack: Stack) -> None:
    added = stack.perdure("add", "- The staging database listens on port 6543", "-p", "shop", "--tags", "db", "--json")
    assert added.returncode == 0, added.stderr
    memory = json.loads(added.stdout)["id"]
    found = stack.perdure("search", "which port has the staging database", "-p", "shop")
    assert found.returncode == 0, found.stderr
    assert memory in found.stdout
    assert memory in stack.perdure("list", "-p", "shop", "--tag", "db").stdout
    changed = stack.perdure("update", memory, "--content", "- It listens on port 7000 now", "--revision", "1")
    assert changed.returncode == 0, changed.stderr
    assert "6543" in stack.perdure("history", memory).stdout
    stale = stack.perdure("update", memory, "--importance", "0.9", "--revision", "1")
    assert stale.returncode == 1
    assert stack.perdure("archive", memory).returncode == 0
    assert stack.perdure("restore", memory).returncode == 0
    assert stack.perdure("purge", memory, "--yes").returncode == 0
    assert stack.perdure("get", memory).returncode == 3


@pytest.mark.requirement("CLI-01")
def test_text_comes_back_from_standard_input_as_it_was(stack: Stack) -> None:
    text = "- 一つ目\n- zwei é 🧠\n\n```\ncode\n```"
    saved = json.loads(stack.perdure("add", "-", "--json", stdin=text + "\n").stdout)
    assert json.loads(stack.perdure("get", saved["id"], "--json").stdout)["content"] == text


@pytest.mark.requirement("SAVE-17")
def test_an_export_imported_again_changes_nothing(stack: Stack, tmp_path: Path) -> None:
    stack.perdure("add", "Exports are JSON Lines")
    target = str(tmp_path / "all.jsonl")
    assert stack.perdure("export", target).returncode == 0
    report = json.loads(stack.perdure("import", target, "--json").stdout)
    assert report["read"] > 0
    assert report["read"] == report["unchanged"]


def test_a_token_opens_its_namespace_and_no_other_until_it_is_revoked(stack: Stack) -> None:
    stack.perdure("add", "canary of the default namespace")
    made = stack.perdure("token", "create", "-n", "team", "--create-namespace", "--expires", "1d", "--json")
    assert made.returncode == 0, made.stderr
    token = json.loads(made.stdout)
    stack.env["PERDURE_TOKEN"] = token["secret"]
    try:
        assert stack.perdure("search", "canary").returncode == 6
        assert stack.perdure("list").stdout == ""
        assert stack.perdure("token", "revoke", token["secret"]).returncode == 0
        wait_until(lambda: stack.perdure("list").returncode == 4, what="the end of the token")
    finally:
        del stack.env["PERDURE_TOKEN"]
    listed = json.loads(stack.perdure("token", "list", "-n", "team", "--json").stdout)
    assert [entry["id"] for entry in listed["tokens"]] == [token["id"]]
    assert token["secret"] not in json.dumps(listed)
    names = json.loads(stack.perdure("namespace", "list", "--json").stdout)["namespaces"]
    assert {entry["name"] for entry in names} == {"default", "team"}


@pytest.mark.requirement("STORE-06")
def test_the_store_is_backed_up_and_checked_while_the_services_run(stack: Stack, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert stack.perdure("db", "backup", str(copy)).returncode == 0
    assert copy.stat().st_size > 0
    assert stack.perdure("db", "backup", str(copy)).returncode == 2
    checked = stack.perdure("db", "check", "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["clean"] is True


@pytest.mark.requirement("EMB-13")
def test_reembed_ends_and_doctor_and_status_find_all_well(stack: Stack) -> None:
    done = stack.perdure("reembed", timeout_s=120)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "reembed" in stack.perdure("jobs", "list").stdout
    doctor = stack.perdure("doctor")
    assert doctor.returncode == 0, doctor.stdout
    status = json.loads(stack.perdure("status", "--json").stdout)
    assert status["ready"] is True
    assert set(status["processes"]) >= {"broker", "embedding", "retrieval", "maintenance", "worker", "beat", "gateway"}


@pytest.mark.requirement("CLI-07")
def test_doctor_names_the_service_that_is_away(stack: Stack) -> None:
    # stopped and not ended, so that the supervisor does not start it again meanwhile
    embedding = stack.pids()["embedding"]
    os.kill(embedding, signal.SIGSTOP)
    try:
        wait_until(lambda: stack.perdure("health").returncode == 5, what="the embedder's absence")
        doctor = stack.perdure("doctor")
        assert doctor.returncode == 1
        assert "perdure logs embedding" in doctor.stdout
        saved = stack.perdure("add", "saved while the embedder was away")
        assert saved.returncode == 0, saved.stderr
        assert "no vector yet" in saved.stderr
        assert stack.perdure("search", "saved while the embedder was away").returncode == 0
    finally:
        os.kill(embedding, signal.SIGCONT)
    stack.wait_ready()
