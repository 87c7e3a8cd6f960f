"""Names follow one rule, labels cannot grow with users, and a scrape finds them."""

from __future__ import annotations

import socket
import stat
import urllib.error
import urllib.request

import pytest

from perdure.observability.metrics import CONTENT_TYPE, Exposition, Metrics, expose


def test_names_carry_the_part_and_values_are_rendered():
    metrics = Metrics("retrieval")
    metrics.counter("saves_total", "Saves.", ("outcome",)).labels("created").inc()
    metrics.gauge("resident_bytes", "Bytes.").set(5)
    metrics.histogram("search_duration_seconds", "Time.").observe(0.2)
    text = metrics.render().decode()
    assert 'perdure_retrieval_saves_total{outcome="created"} 1.0' in text
    assert "perdure_retrieval_resident_bytes 5.0" in text
    assert 'perdure_retrieval_search_duration_seconds_bucket{le="0.25"} 1.0' in text


def test_asking_again_gives_the_same_metric():
    metrics = Metrics("x")
    assert metrics.counter("a_total", "A.") is metrics.counter("a_total", "A.")
    assert metrics.gauge("b", "B.") is metrics.gauge("b", "B.")
    assert metrics.histogram("c_seconds", "C.") is metrics.histogram("c_seconds", "C.")


def test_two_parts_share_nothing():
    first, second = Metrics("a"), Metrics("b")
    first.counter("x_total", "X.").inc()
    assert b"perdure_a" not in second.render()


@pytest.mark.parametrize("label", ["id", "namespace", "token", "project", "request_id"])
@pytest.mark.requirement("SKEL-04")
def test_a_label_that_grows_with_users_is_refused(label):
    with pytest.raises(ValueError, match="grows"):
        Metrics("x").counter("a_total", "A.", (label,))


def test_a_part_that_makes_no_name_is_refused():
    with pytest.raises(ValueError, match="part"):
        Metrics("No Name")


def test_a_port_serves_metrics_and_nothing_else():
    metrics = Metrics("x")
    metrics.gauge("here", "Here.").set(1)
    exposition = Exposition(metrics, "127.0.0.1:0")
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{exposition.port}/metrics", timeout=5) as answer:
            assert answer.headers["Content-Type"] == CONTENT_TYPE
            assert b"perdure_x_here 1.0" in answer.read()
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"http://127.0.0.1:{exposition.port}/", timeout=5)
        caught.value.close()
        assert caught.value.code == 404
    finally:
        exposition.close()


def test_a_socket_serves_metrics_to_the_owner_alone(tmp_path):
    path = tmp_path / "metrics.sock"
    path.touch()  # what a predecessor left behind
    exposition = Exposition(Metrics("x"), f"unix:{path}")
    try:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(5)
            asked.connect(str(path))
            asked.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            received = b"".join(iter(lambda: asked.recv(65536), b""))
        assert received.startswith(b"HTTP/1.0 200")
    finally:
        exposition.close()
    assert not path.exists()


def test_a_base_of_zero_opens_nothing():
    assert expose(Metrics("x"), port_base=0, offset=1) is None


def test_each_process_has_its_own_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    exposition = expose(Metrics("x"), port_base=port - 2, offset=2)
    assert exposition is not None
    assert exposition.port == port
    exposition.close()
