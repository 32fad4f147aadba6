"""Whether the name in a ClientHello is the one that was asked for and judged."""

from __future__ import annotations

import ipaddress

from orchestrator.egress.tls.hello import ClientHello


class NameMismatch(ValueError):  # noqa: N818 - reads as what it is
    """Raised when a client means, or may mean, another server; the text is safe to show."""


def require_name(hello: ClientHello, host: str) -> None:
    """Raise NameMismatch unless the client means exactly ``host``, which is in canonical form."""
    if hello.encrypted:
        raise NameMismatch(
            f"the ClientHello for {host} hides another name (encrypted client hello), which nobody "
            "but the server can read; turn ECH off in the client"
        )
    if hello.server_name is None:
        if not is_address(host):
            raise NameMismatch(f"the ClientHello names no server; expected {host}")
        return
    if hello.server_name.lower().removesuffix(".") != host:
        raise NameMismatch(
            f"the ClientHello names {hello.server_name!r}; the connection was asked for {host}"
        )


def is_address(host: str) -> bool:
    """Say whether a host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
