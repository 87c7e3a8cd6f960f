import pytest

from perdure.gateway.policy import Policy, UnsafeSettings
from perdure.settings import Settings


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "192.168.1.7", "memory.example"])
@pytest.mark.requirement("ACCESS-02")
def test_local_access_on_an_address_others_can_reach_is_refused_with_the_way_out(bind: str) -> None:
    with pytest.raises(UnsafeSettings, match=r"PERDURE_AUTH=token.*perdure token create"):
        Policy.of(Settings(bind=bind, auth="local"))


@pytest.mark.parametrize("bind", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_local_access_is_for_loopback(bind: str) -> None:
    assert Policy.of(Settings(bind=bind)).local


def test_with_tokens_the_gateway_may_listen_everywhere() -> None:
    assert not Policy.of(Settings(bind="0.0.0.0", auth="token")).local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:3456", "localhost:1", "LOCALHOST", "[::1]:3456", "[::1]"])
def test_loopback_hosts_are_accepted_with_any_port(host: str) -> None:
    assert Policy().accepts_host(host)


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:3456", "[::2]", "["]
)
@pytest.mark.requirement("ACCESS-06")
def test_foreign_hosts_are_refused(host: str) -> None:
    assert not Policy().accepts_host(host)


def test_an_allowed_host_with_a_port_is_that_port_only() -> None:
    policy = Policy(hosts=frozenset({"memory.example", "other.example:8443"}))
    assert policy.accepts_host("Memory.example:9")
    assert policy.accepts_host("other.example:8443")
    assert not policy.accepts_host("other.example:9")


@pytest.mark.parametrize(
    ("bind", "host", "accepted"),
    [
        ("192.168.1.7", "192.168.1.7:3456", True),
        ("192.168.1.7", "192.168.1.8:3456", False),
        ("fd00::1", "[fd00::1]:3456", True),
        ("memory.internal", "memory.internal:3456", True),
        ("0.0.0.0", "192.168.1.7:3456", False),
        ("0.0.0.0", "0.0.0.0:3456", False),
    ],
)
def test_the_address_it_listens_on_is_a_name_of_the_gateway(bind: str, host: str, accepted: bool) -> None:
    assert Policy.of(Settings(bind=bind, auth="token")).accepts_host(host) is accepted


def test_a_star_turns_the_host_check_off() -> None:
    assert Policy(hosts=frozenset({"*"})).accepts_host("any.example")


def test_a_page_of_the_gateway_itself_is_no_stranger() -> None:
    assert Policy().accepts_origin("http://127.0.0.1:3456", "127.0.0.1:3456")


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "http://localhost:5173", "file://127.0.0.1:3456", ""]
)
@pytest.mark.requirement("ACCESS-06", "PAST-04")
def test_other_origins_are_refused(origin: str) -> None:
    assert not Policy().accepts_origin(origin, "127.0.0.1:3456")


def test_allowed_origins_are_accepted() -> None:
    policy = Policy.of(Settings(allowed_origins="https://console.example/, http://a.example:8080"))
    assert policy.accepts_origin("https://console.example", "x")
    assert policy.accepts_origin("http://A.example:8080", "x")
    assert not policy.accepts_origin("https://a.example:8080", "x")
