"""``python -m perdure.gateway``: REST and MCP over HTTP."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable

import structlog
import uvicorn
from pydantic import ValidationError

from perdure import settings as settings_module
from perdure.errors import PerdureError
from perdure.gateway.policy import Policy, UnsafeSettings
from perdure.gateway.wiring import build
from perdure.observability.logging import configure_logging
from perdure.settings import Settings
from perdure.starting import wrong_settings

STOP_S = 5
"""Longest that requests get to end when the gateway stops."""

KEEP_ALIVE_S = 75
BACKLOG = 1024
EXIT_USAGE = 2


def listening(address: str, port: int) -> socket.socket:
    """A socket that listens there.

    Raises:
        OSError: the port is taken, or the address is not this machine's.
    """
    family, kind, protocol, _, place = socket.getaddrinfo(
        address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(place)
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


async def serve(settings: Settings, policy: Policy, sock: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT."""
    server = uvicorn.Server(
        uvicorn.Config(
            build(settings, policy),
            http="httptools",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=STOP_S,
        )
    )
    address, port = sock.getsockname()[:2]
    structlog.get_logger("perdure.gateway").info(
        "gateway.started", address=address, port=port, auth=settings.auth, toolsets=list(policy.toolsets)
    )
    await server.serve(sockets=[sock])


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where it is installed (it is not for Windows)."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def main() -> int:
    """Run until a signal; the exit status, 2 where the settings do not allow a start."""
    try:
        settings = settings_module.load()
        policy = Policy.of(settings)
        sock = listening(settings.bind, settings.port)
    except UnsafeSettings as refusal:
        return _refused(str(refusal))
    except ValidationError as fault:
        return _refused(f"The gateway does not start: {wrong_settings(fault)}.")
    except OSError as fault:
        why = "is taken; another Perdure may be running" if fault.errno == errno.EADDRINUSE else f"({fault.strerror})"
        return _refused(
            f"The gateway does not start: {settings.bind}:{settings.port} {why}. Choose another PERDURE_PORT."
        )
    configure_logging(level=settings.log_level, fmt=settings.log_format, process="gateway")
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve(settings, policy, sock))
    except KeyboardInterrupt:
        return 0
    except PerdureError as refusal:
        return _refused(f"The gateway does not start: {refusal.message}")
    return 0


def _refused(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())
