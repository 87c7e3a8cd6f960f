"""Claude Code with the plugin against a scripted model: ``plugin_session.py CLAUDE...``, for mcp_tools.sh.

Two sessions in a folder named ``shop``: a question whose answer memory has, and a slash command. Says "all reached the
model" when the hook's recall, the server's tool and its result, and the command's text were in the model's requests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOL = "mcp__plugin_perdure_memory__memory_search"
STEPS = (
    ("ToolSearch", {"query": f"select:{TOOL}"}),
    (TOOL, {"query": "staging database port"}),
)


class Model(ThreadingHTTPServer):
    """Answers ``/v1/messages``: as many tool calls as STEPS has, then a text. Keeps the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.calls = 0


class Handler(BaseHTTPRequestHandler):
    """One request to the model."""

    server: Model

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            return self._send("application/json", b'{"input_tokens": 1}')
        results = json.dumps(body.get("messages", [])).count('"tool_result"')
        wants_tools = bool(body.get("tools"))
        if wants_tools:
            self.server.requests.append(body)
        self.server.calls += 1
        if wants_tools and results < len(STEPS) and "staging" in json.dumps(body["messages"]):
            name, arguments = STEPS[results]
            block = {"type": "tool_use", "id": f"toolu_{self.server.calls:08d}", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            reason = "tool_use"
        else:
            block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{self.server.calls}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return self._send("text/event-stream", text.encode())

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def session(claude: list[str], folder: Path, prompt: str) -> str:
    """What the model was sent in one session, as JSON."""
    model = Model()
    threading.Thread(target=model.serve_forever, daemon=True).start()
    kept = {name: os.environ[name] for name in os.environ if not name.startswith(("ANTHROPIC", "CLAUDE"))}
    environment = {
        **kept,
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_address[1]}",
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    command = [*claude, "-p", prompt, "--allowedTools", TOOL, "--output-format", "json"]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100
    )
    model.shutdown()
    if done.returncode:
        raise SystemExit(f"claude ended with {done.returncode}: {done.stdout[-800:]} {done.stderr[-800:]}")
    return json.dumps(model.requests)


def main() -> int:
    """0 where everything reached the model."""
    claude = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "shop"
        folder.mkdir()
        asked = session(claude, folder, "Which port does the staging database listen on?")
        command = session(claude, folder, "/perdure:stats")
    messages = {
        "the hook's recall": "The staging database listens on port 6543" in asked.split('"tool_result"')[0],
        "the server's tool": TOOL in asked,
        "the tool's result": "6543" in asked.split('"tool_result"')[-1],
        "the command": "`perdure stats`" in command,
    }
    missing = [name for name, there in messages.items() if not there]
    print(f"missing in the model's requests: {', '.join(missing)}" if missing else "all reached the model")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
