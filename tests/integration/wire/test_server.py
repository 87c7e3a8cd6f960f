"""The server's address, its door, its health, its end, and calls made while it is away."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import structlog

from perdure.domain.memory import Filter
from perdure.domain.saving import Draft, Edit
from perdure.errors import DeadlineExceeded, FailedPrecondition, InvalidArgument, Reason, Unauthenticated, Unavailable
from perdure.observability.metrics import Metrics
from perdure.rpc.retrieval.v1 import memory_pb2_grpc
from perdure.wire import channel
from perdure.wire.aio import AsyncHealth, AsyncMemoryClient
from perdure.wire.clients import MemoryClient
from perdure.wire.server import RpcServer
from support.wire_values import a_memory

ID = a_memory().id


def server(listen, **options):
    return RpcServer(
        name="test",
        listen=str(listen),
        threads=2,
        internal_token=options.pop("internal_token", ""),
        metrics=Metrics("test"),
        takeover_s=options.pop("takeover_s", 0.1),
    )


@pytest.mark.requirement("ACCESS-08")
def test_the_socket_is_the_owners_alone(world):
    path = Path(world.listen.removeprefix("unix:"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_folder_of_the_socket_is_made_for_the_owner_alone(tmp_path):
    made = server(f"unix:{tmp_path}/run/s.sock")
    made.start()
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    made.stop()
    assert not (tmp_path / "run" / "s.sock").exists()


def test_a_dead_servers_socket_is_no_obstacle(tmp_path, caller, make_world):
    path = tmp_path / "s.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    assert path.exists()
    world = make_world(f"unix:{path}")
    with MemoryClient(world.target) as client:
        assert client.get(caller, ID).id == ID
    world.stop()


def test_a_socket_somebody_listens_on_is_left_alone(tmp_path):
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen(4)
        with pytest.raises(Unavailable):
            server(f"unix:{path}").start()
        with socket.socket(socket.AF_UNIX) as knock:
            knock.connect(str(path))


def test_a_second_server_on_one_socket_is_refused_and_the_first_works_on(world, caller):
    with pytest.raises(Unavailable):
        server(world.listen).start()
    with MemoryClient(world.target) as client:
        assert client.get(caller, ID).id == ID


def test_a_file_that_is_no_socket_is_never_removed(tmp_path):
    path = tmp_path / "s.sock"
    path.write_text("somebody's")
    with pytest.raises(FailedPrecondition):
        server(f"unix:{path}").start()
    assert path.read_text() == "somebody's"


@pytest.mark.parametrize("listen", ["", "3456", "host:", ":1:x", "host:99999"])
def test_a_malformed_address_is_refused(listen):
    with pytest.raises(InvalidArgument):
        server(listen, internal_token="x")


@pytest.mark.requirement("ACCESS-08")
def test_tcp_without_an_internal_token_is_refused():
    with pytest.raises(FailedPrecondition):
        server("127.0.0.1:0")


def test_a_port_that_is_taken_is_refused(tcp_world):
    with pytest.raises(Unavailable):
        server(tcp_world.target, internal_token="x").start()


@pytest.mark.parametrize(("token", "reason"), [("", Reason.TOKEN_MISSING), ("wrong", Reason.TOKEN_INVALID)])
@pytest.mark.requirement("ACCESS-08")
async def test_without_the_internal_token_nothing_but_health_answers(tcp_world, caller, token, reason):
    async with AsyncMemoryClient(tcp_world.target, internal_token=token) as client:
        with pytest.raises(Unauthenticated) as caught:
            await client.get(caller, ID)
        assert caught.value.reason is reason
        with pytest.raises(Unauthenticated):
            async for _ in client.export(caller, Filter()):
                pass
    assert tcp_world.memories.calls == []
    async with AsyncHealth(tcp_world.target) as health:
        assert await health.check()


def test_with_the_internal_token_tcp_works(tcp_world, caller):
    with MemoryClient(tcp_world.target, internal_token="internal-s3cret") as client:
        assert client.get(caller, ID).id == ID


def test_a_call_whose_time_was_over_while_it_queued_never_runs(tmp_path, caller, make_world):
    world = make_world(f"unix:{tmp_path}/s.sock")
    world.stop()
    world.memories.release.clear()
    made = server(world.listen)
    made.mount(memory_pb2_grpc.add_MemoryServiceServicer_to_server, world.memories, "memory")
    made.start()
    outcomes = []

    def hang():
        with MemoryClient(world.listen) as client:
            try:
                client.get(caller, "hang", timeout_s=10)
            except Unavailable as error:
                outcomes.append(error)

    threads = [threading.Thread(target=hang) for _ in range(2)]
    for thread in threads:
        thread.start()
    _until(lambda: world.memories.calls.count("get") == 2)
    with MemoryClient(world.listen) as client, pytest.raises(DeadlineExceeded):
        client.stats(caller, timeout_s=0.2)
    world.memories.release.set()
    for thread in threads:
        thread.join()
    with MemoryClient(world.listen) as client:
        client.get(caller, ID)
    assert "stats" not in world.memories.calls
    made.stop()


def _until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_stopping_lets_a_running_call_end(world, caller):
    answers = []

    def ask():
        with MemoryClient(world.target) as client:
            answers.append(client.get(caller, "hang"))

    thread = threading.Thread(target=ask)
    thread.start()
    assert world.memories.entered.wait(10)
    threading.Timer(0.1, world.memories.release.set).start()
    world.server.stop(5)
    thread.join()
    assert [memory.id for memory in answers] == [ID]


@pytest.mark.parametrize("method", ["get", "update", "purge"])
@pytest.mark.requirement("FAULT-10")
async def test_a_call_made_while_the_service_restarts_succeeds(world, caller, method):
    arguments = {"get": (ID,), "update": (ID, Edit(content="x")), "purge": (ID,)}[method]
    async with AsyncMemoryClient(world.target) as client:
        await client.get(caller, ID)
        world.stop()
        world.memories.calls.clear()
        asked = asyncio.create_task(getattr(client, method)(caller, *arguments, timeout_s=10))
        await asyncio.sleep(0)
        await asyncio.to_thread(threading.Event().wait, 0.4)
        world.start()
        await asked
    assert world.memories.calls == [method]


def test_a_sync_call_made_while_the_service_restarts_succeeds(world, caller):
    with MemoryClient(world.target) as client:
        client.get(caller, ID)
        for method, arguments in (("get", (ID,)), ("archive", (ID,))):
            world.stop()
            timer = threading.Timer(0.4, world.start)
            timer.start()
            assert getattr(client, method)(caller, *arguments, timeout_s=10).id == ID
            timer.join()


async def test_a_service_that_stays_away_is_unavailable_with_a_time_to_retry(tmp_path, caller):
    async with AsyncMemoryClient(f"unix:{tmp_path}/none.sock") as client:
        for call in (client.get(caller, ID, timeout_s=10), client.purge(caller, ID, timeout_s=0.5)):
            with pytest.raises(Unavailable) as caught:
                await call
            assert (caught.value.reason, caught.value.retry_after_s) == (Reason.SERVICE_AWAY, 1.0)


def test_a_stream_that_its_caller_abandons_is_cancelled_and_no_fault_of_the_service(world, caller):
    def lines():
        yield a_memory(), ()
        raise ValueError("a line that is too long")

    def finished():
        return [line["code"] for line in logged if line["event"] == "rpc.finished" and "Import" in line["method"]]

    with structlog.testing.capture_logs() as logged:
        with MemoryClient(world.target) as client, pytest.raises(ValueError, match="too long"):
            client.import_(caller, lines(), dry_run=False)
        _until(finished)
    # where the word of it comes between two lines, gRPC just ends the stream
    assert finished()[0] in ("cancelled", "ok")
    assert not [line for line in logged if line["event"] == "rpc.failed"]


def test_every_call_leaves_one_line_and_one_measurement_and_no_text(world, caller):
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        with MemoryClient(world.target) as client:
            client.get(caller, ID)
            with pytest.raises(Exception, match="inside Perdure"):
                client.get(caller, "boom")
        _until(lambda: len([line for line in lines if line["event"] == "rpc.finished"]) == 2)
    finished = [line for line in lines if line["event"] == "rpc.finished"]
    assert [(line["code"], line["request_id"], line["namespace"]) for line in finished] == [
        ("ok", "r-1", "team"),
        ("internal", "r-1", "team"),
    ]
    assert "canary" not in json.dumps(lines, default=str)
    text = world.metrics.render().decode()
    method = "/perdure.rpc.retrieval.v1.MemoryService/Get"
    assert f'perdure_test_rpc_duration_seconds_count{{code="internal",method="{method}"}} 1.0' in text
    assert "perdure_test_rpc_running 0.0" in text


def test_a_message_over_the_limit_is_too_large(world, caller, monkeypatch):
    monkeypatch.setattr(channel, "MESSAGE_BYTES_MAX", 1000)
    with MemoryClient(world.target) as client, pytest.raises(InvalidArgument) as caught:
        client.save(caller, Draft(statement=a_memory(content="x" * 2000).statement))
    assert caught.value.reason is Reason.TOO_LARGE


SCRIPT = """
import sys
from perdure.observability.logging import configure_logging
from perdure.observability.metrics import Metrics
from perdure.wire.server import RpcServer, serve
configure_logging(level="info", fmt="json", process="test")
server = RpcServer(name="test", listen=sys.argv[1], threads=2, internal_token="", metrics=Metrics("test"))
serve(server, on_stop=lambda: print("stopped", flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.e2e
async def test_a_signal_ends_the_process_in_order_and_a_kill_leaves_no_obstacle(tmp_path, number):
    listen = f"unix:{tmp_path}/s.sock"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    async def start():
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, listen], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        async with AsyncHealth(listen, timeout_s=15) as health:
            end = time.monotonic() + 15
            while not await health.check():
                assert process.poll() is None
                assert time.monotonic() < end
        return process

    killed = await start()
    killed.kill()
    killed.communicate()
    process = await start()
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (0, b"stopped\n")
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["server.started", "server.stopped"]


def test_the_default_service_config_is_one_grpc_accepts():
    config = json.loads(dict(channel.options())["grpc.service_config"])
    policies = [entry.get("retryPolicy") for entry in config["methodConfig"]]
    assert policies[0]["maxAttempts"] == 5
    assert policies[1] is None
