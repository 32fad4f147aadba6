"""Which places are connected to without the company's proxy. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable


class NoProxy:
    """Names, ``*.SUFFIX``, and ranges; a range says nothing of a name before it is looked up."""

    def __init__(self, places: Iterable[str]) -> None:
        """Take canonical names in lower case, and ranges; what is neither fits nothing."""
        self._names: set[str] = set()
        self._suffixes: list[str] = []
        self._ranges: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for place in places:
            try:
                self._ranges.append(ipaddress.ip_network(place))
            except ValueError:
                if place.startswith("*."):
                    self._suffixes.append(place[1:])
                else:
                    self._names.add(place)

    def names(self, host: str) -> bool:
        """Say whether a canonical name is one of them; ``*.x`` is every name under x, not x."""
        return host in self._names or any(host.endswith(suffix) for suffix in self._suffixes)

    def holds(self, address: str) -> bool:
        """Say whether an address lies in one of the ranges."""
        found = ipaddress.ip_address(address)
        return any(found in one for one in self._ranges if one.version == found.version)
