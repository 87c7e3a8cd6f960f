"""A real bridge process, spoken to over its pipes as a host does."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

SERVICES = Path(__file__).parents[2] / "services"
COMMAND = [sys.executable, "-m", "perdure.bridge.main"]
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment(**variables: str) -> dict[str, str]:
    """Only what a host passes on, the place of the code, and the given variables."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    # no trace of Claude Code, whoever runs the tests: the bridge's tools depend on it
    kept["CLAUDE_CONFIG_DIR"] = os.devnull
    return {**kept, "PYTHONPATH": str(SERVICES), "PERDURE_AUTOSTART": "0", **variables}


class BridgeProcess:
    """Started on construction; every line of its stdout is parsed, so that anything but JSON-RPC fails a test."""

    def __init__(self, command: list[str] | None = None, **variables: str) -> None:
        self.process = subprocess.Popen(
            command or COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**variables),
        )
        self.raw: list[bytes] = []
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._stderr: list[bytes] = []
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._next_id = 0

    def __enter__(self) -> BridgeProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(10)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue

    @property
    def stderr(self) -> str:
        return b"".join(self._stderr).decode()

    def send_bytes(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None, request_id: Any = None) -> Any:
        """Send a request under a new id (or the given one) and return the id."""
        if request_id is None:
            self._next_id += 1
            request_id = self._next_id
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send_bytes(json.dumps(message, ensure_ascii=False).encode())
        return request_id

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send_bytes(json.dumps(message).encode())

    def receive(self, timeout_s: float = 30.0) -> dict[str, Any]:
        """The next message on stdout."""
        message = self._lines.get(timeout=timeout_s)
        assert message is not None, f"the bridge closed its output; stderr: {self.stderr}"
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None, timeout_s: float = 30.0) -> dict[str, Any]:
        """Send a request and return its answer; there must be nothing else in between."""
        request_id = self.send(method, params)
        answer = self.receive(timeout_s)
        assert answer.get("id") == request_id, answer
        return answer

    def ask_modern(self, method: str, params: dict[str, Any] | None = None, timeout_s: float = 30.0) -> dict[str, Any]:
        return self.ask(method, {**(params or {}), "_meta": MODERN_META}, timeout_s)

    def initialize(self, version: str = "2025-11-25") -> dict[str, Any]:
        """Open a legacy session as hosts do."""
        client = {"name": "test", "version": "1"}
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
        self.notify("notifications/initialized")
        return answer

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, timeout_s: float = 10.0) -> int:
        """The exit status, and all output read."""
        status = self.process.wait(timeout_s)
        for thread in self._threads:
            thread.join(timeout_s)
        return status

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.raw.append(line)
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            self._lines.put(message)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._stderr.append(line)
