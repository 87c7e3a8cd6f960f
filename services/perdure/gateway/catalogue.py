"""Refreshes the bridge's ``catalogue.json``: ``python -m perdure.gateway.catalogue``.

Run it whenever a tool, its description, the instructions or the version change; a contract test compares. It serves the
MCP endpoint on a free loopback port, with no services behind it, and lets the bridge's own program ask and write: what
the first questions are, and in which form the answers are kept, is the bridge's business.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, cast

import uvicorn

from perdure.gateway.__main__ import listening
from perdure.gateway.app import make_app
from perdure.gateway.backends import Access, Backends, Jobs, Lifecycle, Memories
from perdure.gateway.backends_experience import Experience
from perdure.gateway.policy import Policy
from perdure.observability.logging import configure_logging

LOOPBACK = "127.0.0.1"


class _Nobody:
    """In the place of every service: the first questions of a client need none."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the catalogue is served without services; {name} was asked for")


def nobody() -> Backends:
    """Backends for answers that need no service."""
    nobody = _Nobody()
    return Backends(
        memories=cast("Memories", nobody),
        access=cast("Access", nobody),
        jobs=cast("Jobs", nobody),
        lifecycle=cast("Lifecycle", nobody),
        experience=cast("Experience", nobody),
        probes={},
    )


async def _refresh() -> int:
    sock = listening(LOOPBACK, 0)
    config = uvicorn.Config(
        make_app(nobody(), Policy()), ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[sock]))
    try:
        environment = {
            name: value for name, value in os.environ.items() if name not in ("PERDURE_TOKEN", "PERDURE_HOME")
        }
        environment["PERDURE_URL"] = f"http://{LOOPBACK}:{sock.getsockname()[1]}"
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "perdure.bridge.catalogue", env=environment
        )
        return await program.wait()
    finally:
        server.should_exit = True
        await serving


def main() -> int:
    """Write the file; the exit status of the bridge's program."""
    configure_logging(level="error", fmt="console", process="catalogue")
    return asyncio.run(_refresh())


if __name__ == "__main__":
    sys.exit(main())
