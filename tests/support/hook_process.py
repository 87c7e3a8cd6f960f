"""Runs ``perdure-hook`` as a host does: a process, JSON on stdin, its standard output back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SERVICES = Path(__file__).parents[2] / "services"
LIMIT_S = 30
"""Only so that a broken hook does not hang the test."""


def command(host: str, event: str) -> list[str]:
    return [sys.executable, "-S", "-m", "perdure.hooks", "--host", host, event]


def environment(home: Path, url: str, **more: str) -> dict[str, str]:
    return {
        "PYTHONPATH": str(SERVICES),
        "PERDURE_HOME": str(home),
        "PERDURE_URL": url,
        "HOME": str(home.parent),
        **more,
    }


def run_hook(
    host: str,
    event: str,
    body: dict[str, Any] | bytes,
    *,
    home: Path,
    url: str,
    words: list[str] | None = None,
    **more: str,
) -> subprocess.CompletedProcess[bytes]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return subprocess.run(
        words or command(host, event),
        input=raw,
        env=environment(home, url, **more),
        cwd=os.curdir,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )


def start_hook(host: str, event: str, *, home: Path, url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(host, event),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, url),
    )
