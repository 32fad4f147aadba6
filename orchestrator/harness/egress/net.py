"""The network as one session's proxy sees it: names, and connections to addresses."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.egress.seams import Dialer, Resolver
from orchestrator.egress.sockets import AddressDialer, HostResolver


@dataclass(frozen=True, slots=True)
class Net:
    """The host's own, unless others are given."""

    resolver: Resolver = field(default_factory=HostResolver)
    dialer: Dialer = field(default_factory=AddressDialer)
