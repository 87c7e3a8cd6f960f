"""Claude Code with the plugin over a scripted model: ``plugin_session.py CLAUDE...``, for mcp_tools.sh.

Two sessions in a folder named ``shop``: a question whose answer memory has, and a slash command. Says "all reached the
model" when the hook's recall, the server's tool and its result, and the command's text were in the model's requests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from support.scripted_model import Asked, Call, ScriptedModel

TOOL = "mcp__plugin_perdure_memory__memory_search"
MEMORY = "The staging database listens on port 6543"


def session(claude: list[str], folder: Path, prompt: str, *calls: Call) -> list[Asked]:
    """What the model was asked in one session."""
    kept = {name: os.environ[name] for name in os.environ if not name.startswith(("ANTHROPIC", "CLAUDE"))}
    with ScriptedModel() as model:
        model.script("Done.", *calls)
        done = subprocess.run(
            [*claude, "-p", prompt, "--allowedTools", TOOL, "--output-format", "json"],
            cwd=folder,
            env={
                **kept,
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": "scripted",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "NO_PROXY": "127.0.0.1,localhost",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )
        if done.returncode:
            raise SystemExit(f"claude ended with {done.returncode}: {done.stdout[-800:]} {done.stderr[-800:]}")
        return [asked for asked in model.asked if asked.tools]


def main() -> int:
    """0 where everything reached the model."""
    claude = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "shop"
        folder.mkdir()
        # the tool is not always offered at once; then the model looks for it first
        calls = (
            Call("ToolSearch", {"query": f"select:{TOOL}"}),
            Call("memory_search", {"query": "staging database port"}),
        )
        asked = session(claude, folder, "Which port does the staging database listen on?", *calls)
        command = session(claude, folder, "/perdure:stats")
    seen = {
        "the hook's recall": any(MEMORY in text for text in asked[0].texts),
        "the server's tool": any(TOOL in each.tools for each in asked),
        "the tool's result": asked[-1].results == len(calls) and asked[-1].says("6543"),
        "the command": any(each.says("`perdure stats`") for each in command),
    }
    missing = [name for name, there in seen.items() if not there]
    print(f"missing in the model's requests: {', '.join(missing)}" if missing else "all reached the model")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
