from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from integration.hooks.conftest import hit
from support.hook_payloads import DECISION, payload
from support.hook_process import run_hook
from support.rest_gateway import RestGateway

MAKE = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with the openssl command")
def test_https_is_spoken_to_a_trusted_gateway_and_nothing_is_told_to_another(
    home: Path, shop: Path, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", *MAKE.split(), "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=60,
    )
    gateway = RestGateway()
    gateway.encrypt(certificate, key)
    gateway.routes["GET /memories/search"] = {"recall": [hit()]}
    gateway.start()
    try:
        url = f"https://localhost:{gateway.port}"
        asking = payload("claude", "UserPromptSubmit", cwd=str(shop))
        wary = run_hook("claude", "UserPromptSubmit", asking, home=home, url=url)
        assert (wary.returncode, wary.stdout, wary.stderr, gateway.asked) == (0, b"", b"", [])
        trusting = run_hook("claude", "UserPromptSubmit", asking, home=home, url=url, SSL_CERT_FILE=str(certificate))
        assert DECISION in json.loads(trusting.stdout)["hookSpecificOutput"]["additionalContext"]
    finally:
        gateway.stop()
