"""Lines are JSON with constant events, and never hold what users said."""

from __future__ import annotations

import io
import json
import logging
import warnings

import pytest
import structlog

from perdure.observability import context
from perdure.observability.logging import DROPPED_KEYS, configure_logging, describe_exception


@pytest.fixture(autouse=True)
def as_before():
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    structlog.contextvars.clear_contextvars()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


@pytest.fixture
def out():
    return io.StringIO()


def lines(out):
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_line_is_json_with_event_facts_context_and_process(out):
    configure_logging(level="info", fmt="json", process="retrieval", stream=out)
    with context.bind(request_id="r-1", namespace="team", job_id="j-1"):
        structlog.get_logger().info("memory.saved", duration_ms=1.5)
    structlog.get_logger().info("memory.saved")
    first, second = lines(out)
    assert first["event"] == "memory.saved"
    assert (first["duration_ms"], first["level"], first["process"]) == (1.5, "info", "retrieval")
    assert (first["request_id"], first["namespace"], first["job_id"]) == ("r-1", "team", "j-1")
    assert first["at"].endswith("Z")
    assert "request_id" not in second


def test_lines_below_the_level_are_not_written(out):
    configure_logging(level="warning", fmt="json", process="x", stream=out)
    structlog.get_logger().info("memory.saved")
    logging.getLogger("anything").info("hello")
    assert out.getvalue() == ""


def test_auto_is_json_unless_a_terminal(out):
    configure_logging(level="info", fmt="auto", process="x", stream=out)
    structlog.get_logger().info("memory.saved")
    assert lines(out)[0]["event"] == "memory.saved"

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    configure_logging(level="info", fmt="auto", process="x", stream=terminal)
    structlog.get_logger().info("memory.saved")
    assert not terminal.getvalue().startswith("{")
    assert "memory.saved" in terminal.getvalue()


@pytest.mark.parametrize("key", sorted(DROPPED_KEYS))
@pytest.mark.requirement("SKEL-03")
def test_keys_that_could_hold_what_users_said_are_dropped_at_any_depth(out, key):
    configure_logging(level="info", fmt="json", process="x", stream=out)
    structlog.get_logger().info(
        "memory.saved", **{key: "canary", key.upper(): "canary"}, facts={"a": [{key: "canary", "kept": 1}]}
    )
    assert "canary" not in out.getvalue()
    assert lines(out)[0]["facts"] == {"a": [{"kept": 1}]}


def test_records_of_libraries_pass_the_same_way(out):
    configure_logging(level="info", fmt="json", process="x", stream=out)
    with context.bind(request_id="r-1"):
        logging.getLogger("some.library").warning("disk %s is full", "a")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old thing", stacklevel=1)
    record, warning = lines(out)
    assert (record["event"], record["message"], record["logger"]) == (
        "library.logged",
        "disk a is full",
        "some.library",
    )
    assert (record["level"], record["request_id"], record["process"]) == ("warning", "r-1", "x")
    assert warning["logger"] == "py.warnings"


def test_access_lines_that_quote_queries_are_never_written(out):
    configure_logging(level="debug", fmt="json", process="x", stream=out)
    logging.getLogger("uvicorn.access").info('"GET /memories/search?q=canary" 200')
    logging.getLogger("httpx").info("POST http://x/canary")
    assert out.getvalue() == ""


def test_lines_for_a_person_leave_out_the_process_that_the_supervisor_names(out):
    configure_logging(level="info", fmt="console", process="gateway", stream=out)
    structlog.get_logger().info("thing.done", count=3)
    assert "thing.done" in out.getvalue()
    assert "process=" not in out.getvalue()
    assert "pid=" not in out.getvalue()


def test_the_web_servers_steps_are_not_written_but_its_trouble_is(out):
    configure_logging(level="info", fmt="json", process="x", stream=out)
    logging.getLogger("uvicorn.error").info("Waiting for application startup.")
    assert out.getvalue() == ""
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert "Invalid HTTP request" in out.getvalue()


def failure(error):
    try:
        try:
            raise KeyError(error)
        except KeyError as cause:
            raise RuntimeError(error) from cause
    except RuntimeError as raised:
        return raised


@pytest.mark.requirement("SKEL-03")
def test_an_exception_keeps_frames_and_types_but_no_message_that_could_quote_a_text(out):
    configure_logging(level="info", fmt="json", process="x", stream=out)
    said = "".join(["can", "ary"])
    try:
        raise failure(said)
    except RuntimeError:
        structlog.get_logger().error("job.failed", exc_info=True)
        logging.getLogger("lib").exception("it failed")
    ours, theirs = lines(out)
    for line in (ours, theirs):
        assert said not in line["exception"]
        assert "RuntimeError: (message withheld)" in line["exception"]
        assert "KeyError: (message withheld)" in line["exception"]
        assert "test_logging.py" in line["exception"]


def test_a_message_that_names_files_and_states_is_kept():
    assert "No such file" in describe_exception(FileNotFoundError(2, "No such file", "/x"))


def test_causes_that_go_round_in_a_circle_end():
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first
    assert describe_exception(first).count("ValueError") == 2


def test_configuring_twice_writes_once(out):
    for _ in range(2):
        configure_logging(level="info", fmt="json", process="x", stream=out)
    logging.getLogger("lib").warning("once")
    assert len(lines(out)) == 1
