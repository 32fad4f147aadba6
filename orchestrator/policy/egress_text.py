"""What would leave the box, as people write it: ``GET https://host/path``, ``CONNECT host:port``."""

from __future__ import annotations

import re

from orchestrator.policy.hosts import HostRefused, canonical_host
from orchestrator.policy.network_match import USUAL_PORTS
from orchestrator.schema.egress import EgressRequest, Scheme

_PORT = re.compile("[1-9][0-9]{0,4}")


def parse_egress(text: str) -> EgressRequest:
    """Return the request; ValueError, with what was expected, for a text that is none.

    ``CONNECT host:port`` is a tunnel, for https until a policy says else; ``LOOKUP host`` a look-up
    of a name; ``ws`` and ``wss`` URLs switch to WebSocket. A host that is none is kept as it stands,
    for the judge to refuse.
    """
    method, _, place = text.strip().partition(" ")
    place = place.strip()
    if method == "LOOKUP" and place:
        return EgressRequest("dns", "https", _host(place), 0)
    if method == "CONNECT" and place and "/" not in place:
        host, port = _end(place, None)
        return EgressRequest("connect", "https", host, port)
    name, colon, rest = place.partition("://")
    if not method or method != method.upper() or method == "CONNECT" or not colon:
        raise ValueError(
            f"expected METHOD URL, CONNECT host:port or LOOKUP host, got {text.strip()[:200]!r}"
        )
    scheme: Scheme | None = _SCHEMES.get(name.lower())
    if scheme is None:
        raise ValueError(f"expected a URL with one of {', '.join(_SCHEMES)}, got {name!r}")
    rest = rest.partition("#")[0]
    cut = min((at for mark in "/?" if (at := rest.find(mark)) >= 0), default=len(rest))
    host, port = _end(rest[:cut], USUAL_PORTS[scheme])
    target = rest[cut:] if rest[cut:].startswith("/") else f"/{rest[cut:]}"
    upgrade = "websocket" if name.lower() in {"ws", "wss"} else ""
    return EgressRequest(
        door="inspected" if scheme == "https" else "http",
        scheme=scheme,
        host=host,
        port=port,
        method=method,
        target=target,
        upgrade=upgrade,
    )


_SCHEMES: dict[str, Scheme] = {"https": "https", "http": "http", "wss": "https", "ws": "http"}


def _end(authority: str, usual: int | None) -> tuple[str, int]:
    host, colon, digits = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        host, colon, digits = authority, "", ""
    if ":" in host and not host.startswith("["):
        raise ValueError(f"expected an IPv6 address in brackets, got {authority[:200]!r}")
    if colon:
        if not _PORT.fullmatch(digits):
            raise ValueError(f"expected a port in digits, got {digits[:20]!r}")
        return _host(host), int(digits)
    if usual is None:
        raise ValueError(f"expected host:port, got {authority[:200]!r}")
    return _host(host), usual


def _host(text: str) -> str:
    try:
        return canonical_host(text)
    except HostRefused:
        return text
