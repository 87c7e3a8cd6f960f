"""Who may reach the gateway, and within which limits: the settings, checked and made ready to use.

Knows no request. ``Policy.of`` refuses settings under which a stranger could read somebody's memories.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from perdure.settings import Settings

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


class UnsafeSettings(Exception):
    """The settings would open memories to strangers; the message is one sentence for the operator."""


def is_loopback(address: str) -> bool:
    """True where only programs of this machine can reach ``address``."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Access and limits.

    ``local``: a request without a token is the namespace ``default``. ``hosts`` and ``origins`` are lower-case; ``*``
    among them accepts any. ``rate_per_minute`` 0 is no limit.
    """

    local: bool = True
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    body_limit_bytes: int = 8 * 1024 * 1024
    rate_per_minute: int = 0
    strangers_per_minute: int = 30
    toolsets: tuple[str, ...] = ("core",)

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """The policy in ``settings``.

        Raises:
            UnsafeSettings: local access on an address that others can reach.
        """
        if settings.auth == "local" and not is_loopback(settings.bind):
            raise UnsafeSettings(
                f"The gateway does not start: PERDURE_BIND={settings.bind} can be reached from other machines while "
                "PERDURE_AUTH=local lets everyone in without a token. Set PERDURE_AUTH=token and make a token with "
                "`perdure token create`, or bind to 127.0.0.1."
            )
        return cls(
            local=settings.auth == "local",
            # an address of its own is what clients name; a wildcard is no address
            hosts=names(settings.allowed_hosts) | own_host(settings.bind),
            origins=names(settings.allowed_origins),
            body_limit_bytes=settings.body_limit_bytes,
            rate_per_minute=settings.rate_per_minute,
            toolsets=tuple(part.strip() for part in settings.toolsets.split(",") if part.strip()) or ("core",),
        )

    def accepts_host(self, host: str) -> bool:
        """True where the Host header names this gateway: loopback or an allowed host, with any port unless given."""
        host = host.strip().lower()
        if "*" in self.hosts:
            return bool(host)
        name = bare(host)
        return name in LOOPBACK_HOSTS or host in self.hosts or name in self.hosts

    def accepts_origin(self, origin: str, host: str) -> bool:
        """True where a browser's Origin is allowed or is the gateway itself (whose Host was checked before)."""
        origin = origin.strip().lower().rstrip("/")
        if "*" in self.origins or origin in self.origins:
            return True
        scheme, separator, rest = origin.partition("://")
        return bool(separator) and scheme in ("http", "https") and rest == host.strip().lower()


def own_host(bind: str) -> frozenset[str]:
    """The Host value for a gateway that listens on ``bind`` alone; none for every address."""
    try:
        address = ipaddress.ip_address(bind.strip("[]"))
    except ValueError:
        return frozenset({bind.lower()})
    if address.is_unspecified:
        return frozenset()
    return frozenset({f"[{address}]" if address.version == 6 else str(address)})


def names(text: str) -> frozenset[str]:
    """Comma-separated names, lower-case, without a slash at the end."""
    return frozenset(part.strip().lower().rstrip("/") for part in text.split(",") if part.strip())


def bare(host: str) -> str:
    """``host`` without its port."""
    if host.startswith("["):
        return host[: host.find("]") + 1]
    return host.partition(":")[0]
