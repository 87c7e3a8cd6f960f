"""Refreshing ``catalogue.json`` from a running gateway: ``python -m perdure.bridge.catalogue``.

Run it whenever a tool, its description, the instructions or the version change; a test of the gateway compares the
file with the gateway's own answers. It reads PERDURE_URL and PERDURE_TOKEN as the bridge does. The bridge itself
never imports this.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from perdure.bridge.eras import LEGACY_VERSIONS, VERSION_KEY, modern_headers, parse
from perdure.bridge.local import CATALOGUE_FILE
from perdure.bridge.target import BadTarget, Target
from perdure.bridge.transport import AnswerLost, Call, Transport, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MODERN_VERSION = "2026-07-28"

QUESTIONS = {
    "legacy": ("initialize", "ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list"),
    "modern": ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"),
}


def request(era: str, method: str) -> tuple[bytes, dict[str, str]]:
    """Body and headers of one of the questions, for whatever carries it to a gateway.

    Args:
        era: ``legacy`` or ``modern``.
        method: One of the era's ``QUESTIONS``.

    Returns:
        The JSON-RPC request, and its headers besides content type, accept and token.
    """
    params: dict[str, Any] = {}
    if era == "modern":
        params = {"_meta": {VERSION_KEY: MODERN_VERSION, "io.modelcontextprotocol/clientCapabilities": {}}}
    elif method == "initialize":
        client = {"name": "perdure-bridge", "version": "1"}
        params = {"protocolVersion": LEGACY_VERSIONS[-1], "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params else {})}
    body = json.dumps(message).encode()
    if era == "modern":
        return body, modern_headers(parse(body))
    return body, {} if method == "initialize" else {"MCP-Protocol-Version": LEGACY_VERSIONS[-1]}


def collect(ask: Callable[[bytes, dict[str, str]], Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What ``catalogue.json`` must hold for a gateway: its results by era and method; a method it lacks is left out.

    Args:
        ask: Sends a body with its headers to the gateway and gives back the JSON-RPC answer.
    """
    catalogue: dict[str, dict[str, Any]] = {}
    for era, methods in QUESTIONS.items():
        for method in methods:
            answer = ask(*request(era, method))
            if "result" in answer:
                catalogue.setdefault(era, {})[method] = answer["result"]
    if told := _ask_read_only(ask):
        catalogue["readonly"] = told
    return catalogue


def _ask_read_only(ask: Callable[[bytes, dict[str, str]], Mapping[str, Any]]) -> dict[str, Any]:
    """What the gateway tells a client that only reads, where that is something else."""
    body, headers = request("legacy", "initialize")
    answer = ask(body, {**headers, "Perdure-Readonly": "1"})
    instructions = answer.get("result", {}).get("instructions")
    return {"instructions": instructions} if instructions else {}


def text_of(catalogue: Mapping[str, Mapping[str, Any]]) -> str:
    """The catalogue as the file holds it."""
    return json.dumps(catalogue, indent=1, ensure_ascii=False) + "\n"


def _asker(transport: Transport) -> Callable[[bytes, dict[str, str]], Mapping[str, Any]]:
    def ask(body: bytes, headers: dict[str, str]) -> Mapping[str, Any]:
        with contextlib.closing(transport.open(body, headers, Call(modern=False))) as exchange:
            parts = list(exchange.events()) if exchange.streams else [exchange.read()]
        answer = json.loads(parts[-1])
        if not isinstance(answer, dict):
            raise TypeError("no JSON-RPC answer")
        return answer

    return ask


def main() -> int:
    """Ask the gateway of the environment and rewrite the file; 1 if it cannot be asked."""
    try:
        target = Target(os.environ, lambda sentence: print(sentence, file=sys.stderr))
        catalogue = collect(_asker(Transport(target)))
    except (BadTarget, Unreachable, AnswerLost, ValueError, TypeError, IndexError) as fault:
        print(f"The gateway could not be asked: {fault}", file=sys.stderr)
        return 1
    if {"initialize", "tools/list"} - set(catalogue.get("legacy", {})):
        print("The gateway did not answer initialize and tools/list; the file is left as it is.", file=sys.stderr)
        return 1
    CATALOGUE_FILE.write_text(text_of(catalogue), encoding="utf-8")
    print(f"{CATALOGUE_FILE.name}: {len(catalogue['legacy']['tools/list']['tools'])} tools")
    return 0


if __name__ == "__main__":
    sys.exit(main())
