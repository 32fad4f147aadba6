"""Listeners on every address of the host, which nothing from a box may reach."""

from __future__ import annotations

import itertools
import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class HostListeners:
    """Where they listen; ``heard`` tells who got anything."""

    port: int
    abstract: str
    addresses: list[str]
    listeners: dict[str, socket.socket] = field(default_factory=dict)

    def heard(self) -> list[str]:
        """Return the names of the listeners that somebody reached."""
        found = []
        for name, one in self.listeners.items():
            try:
                if one.type == socket.SOCK_STREAM:
                    one.accept()[0].close()
                else:
                    one.recv(100)
            except BlockingIOError:
                continue
            found.append(name)
        return found


@contextmanager
def host_listeners() -> Iterator[HostListeners]:
    """Listen by TCP and UDP of both families, on an abstract Unix socket, and for pings as root."""
    kinds = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM),
        "tcp6": (socket.AF_INET6, socket.SOCK_STREAM),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM),
        "udp6": (socket.AF_INET6, socket.SOCK_DGRAM),
    }
    abstract = f"glovebox-test-{secrets.token_hex(6)}"
    with ExitStack() as stack:
        first = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
        found = HostListeners(first.getsockname()[1], abstract, _addresses(), {"tcp": first})
        for name, (family, kind) in kinds.items():
            if name == "tcp" or (
                family == socket.AF_INET6 and not Path("/proc/net/if_inet6").exists()
            ):
                continue
            one = stack.enter_context(socket.socket(family, kind))
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", found.port))
            found.listeners[name] = one
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(f"\0{abstract}")
        found.listeners["abstract"] = unix
        for one in found.listeners.values():
            one.setblocking(False)
            if one.type == socket.SOCK_STREAM:
                one.listen()
        yield found


def _addresses() -> list[str]:
    """Return the host's own IPv4 addresses beside the loopback's."""
    lines = Path("/proc/net/fib_trie").read_text().splitlines()
    found = {
        before.split()[-1] for before, line in itertools.pairwise(lines) if "/32 host LOCAL" in line
    }
    others = sorted(address for address in found if not address.startswith("127."))
    # Where the engine is in a network without any, one that leads nowhere.
    return others or ["192.0.2.1"]
