"""Which addresses may be dialled: an explicit list, since libraries differ on what is global.

Documentation ranges (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20) count
as public: closed networks and tests use them, and nobody else does.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def _table(ranges: dict[str, str]) -> tuple[tuple[Network, str], ...]:
    return tuple((ipaddress.ip_network(text), name) for text, name in ranges.items())


_NEVER = _table(
    {
        "0.0.0.0/8": "the unspecified range, which reaches this host",
        "168.63.129.16/32": "a cloud's metadata address",
        "100.100.100.200/32": "a cloud's metadata address",
        "169.254.0.0/16": "link-local, which holds clouds' metadata",
        "192.0.0.0/24": "reserved for protocols",
        "192.88.99.0/24": "the 6to4 relays",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved or broadcast",
        "::/128": "the unspecified address, which reaches this host",
        "64:ff9b:1::/48": "a network's own translation to IPv4",
        "100::/64": "the discard range",
        "2001:2::/48": "for benchmarks",
        "2001:10::/28": "no address but a hash",
        "2001:20::/28": "no address but a hash",
        "fd00:ec2::254/128": "a cloud's metadata address",
        "fd20:ce::254/128": "a cloud's metadata address",
        "fe80::/10": "link-local",
        "fec0::/10": "site-local",
        "ff00::/8": "multicast",
    }
)
"""Ranges that no policy opens; the most telling name first."""

_NEAR = _table(
    {
        "127.0.0.0/8": "loopback",
        "10.0.0.0/8": "private",
        "172.16.0.0/12": "private",
        "192.168.0.0/16": "private",
        "100.64.0.0/10": "carrier-grade NAT, which overlay networks use",
        "198.18.0.0/15": "for benchmarks",
        "::1/128": "loopback",
        "fc00::/7": "unique local",
    }
)
"""Ranges that a rule opens with ``private``, each by a range that lies within it."""

_GLOBAL = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})


def check_address(address: str, private: Iterable[str] = ()) -> str | None:
    """Return why an address must not be dialled, None if it may.

    ``private``: ranges in CIDR form that a rule opens besides public addresses. They open nothing
    that is reached by way of an embedded address, and neither link-local nor metadata ever.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "not an address"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.scope_id is not None:
            return "an address with a zone"
        parsed = parsed.ipv4_mapped or parsed
    reason = _reason(parsed, _networks(tuple(private)))
    if reason is not None or isinstance(parsed, ipaddress.IPv4Address):
        return reason
    for inner, way in _embedded(parsed):
        reason = _reason(inner, ())
        if reason is not None:
            return f"{way} of an address that is {reason}"
    return None


def check_private(cidr: str) -> None:
    """Raise ValueError unless a range may be opened by ``private``."""
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError:
        raise ValueError(
            f"expected a range such as 10.1.0.0/16 or fd12::/32, got {cidr!r}"
        ) from None
    for never, name in _NEVER:
        if _within(network, never):
            raise ValueError(f"{cidr} is {name}; no policy opens that")
    if not any(_within(network, near) for near, _ in _NEAR):
        known = ", ".join(str(near) for near, _ in _NEAR)
        raise ValueError(f"{cidr}: expected a range within one of {known}; public needs no mention")


def common_ranges(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """Return the ranges, in CIDR form, that lie in both lists of them."""
    found: dict[str, None] = {}
    for first in _networks(tuple(one)):
        for second in _networks(tuple(other)):
            if _within(first, second):
                found[str(first)] = None
            elif _within(second, first):
                found[str(second)] = None
    return tuple(found)


def near_name(cidr: str) -> str | None:
    """Return what kind of range a sound ``private`` entry opens, such as ``loopback``."""
    network = ipaddress.ip_network(cidr)
    return next((name for near, name in _NEAR if _within(network, near)), None)


def _reason(address: Address, opened: tuple[Network, ...]) -> str | None:
    for network, name in _NEVER:
        if address in network:
            return name
    for network, name in _NEAR:
        if address in network:
            inside = (item for item in opened if _within(item, network))
            return None if any(address in item for item in inside) else name
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL:
        return None if address in _NAT64 else "outside of what is assigned for public use"
    return None


def _embedded(address: ipaddress.IPv6Address) -> Iterator[tuple[Address, str]]:
    """Yield each IPv4 address that a way to IPv6 would take this one for."""
    low = int(address) & 0xFFFF_FFFF
    if address in _NAT64:
        yield ipaddress.IPv4Address(low), "the NAT64 form"
    if address.sixtofour is not None:
        yield address.sixtofour, "the 6to4 form"
    if address.teredo is not None:
        for inner in address.teredo:
            yield inner, "the Teredo form"
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        yield ipaddress.IPv4Address(low), "the ISATAP form"


@lru_cache(maxsize=256)
def _networks(cidrs: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(cidr) for cidr in cidrs)


def _within(inner: Network, outer: Network) -> bool:
    if isinstance(inner, ipaddress.IPv4Network):
        return isinstance(outer, ipaddress.IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, ipaddress.IPv6Network) and inner.subnet_of(outer)
