"""``python -m perdure.wire.probe TARGET``: is the service at TARGET serving? For health checks of containers.

Exit status 0: serving; 1: not serving or not reachable; 2: no target given.
"""

from __future__ import annotations

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

TIMEOUT_S = 3.0


def serving(target: str, *, timeout_s: float = TIMEOUT_S) -> bool:
    """True where the gRPC server at ``target`` (``unix:/path`` or ``host:port``) says that it is serving."""
    with grpc.insecure_channel(target) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=timeout_s)
        except grpc.RpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def main(arguments: list[str]) -> int:
    """Probe the one target in ``arguments``."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m perdure.wire.probe TARGET\n")
        return 2
    return 0 if serving(arguments[0]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
