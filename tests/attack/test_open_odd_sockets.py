"""A command tries the sockets that are no internet sockets, or that see more than their own."""

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

ODD = """
def opened(family, kind, protocol=0):
    return lambda: socket.socket(family, kind, protocol).close()

tried("vsock", opened(40, socket.SOCK_STREAM))
tried("vsock-dgram", opened(40, socket.SOCK_DGRAM))
tried("vsock-high-bits", lambda: call(41, (1 << 32) | 40, 1, 0))
tried("packet", opened(17, socket.SOCK_RAW))
tried("packet-dgram", opened(17, socket.SOCK_DGRAM))
tried("raw4", opened(2, socket.SOCK_RAW, 1))
tried("raw6", opened(10, socket.SOCK_RAW, 58))
tried("ping", opened(2, socket.SOCK_DGRAM, 1))
tried("sctp", opened(2, socket.SOCK_STREAM, 132))
tried("netlink-audit", opened(16, socket.SOCK_RAW, 9))
tried("netlink-netfilter", opened(16, socket.SOCK_RAW, 12))
tried("netlink-kobject", opened(16, socket.SOCK_RAW, 15))
tried("netlink-generic", opened(16, socket.SOCK_RAW, 16))
for family in (3, 4, 5, 9, 15, 21, 29, 30, 31, 38, 44):
    tried(f"family{family}", opened(family, socket.SOCK_DGRAM))
tried("unix", opened(1, socket.SOCK_STREAM))
tried("tcp", opened(2, socket.SOCK_STREAM))
tried("udp6", opened(10, socket.SOCK_DGRAM))
tried("route", opened(16, socket.SOCK_RAW, 0))
"""

ORDINARY = ("unix", "tcp", "udp6", "route")


def test_only_ordinary_sockets_open(stage):
    """The host answers on AF_VSOCK even without a network, so the filter must know it."""
    found = attempts(stage, ODD)

    for name in ORDINARY:
        assert found.pop(name).startswith("WORKED"), name
    # Tools that make users give up at EPERM here; no kernel without audit would say that.
    assert found.pop("netlink-audit") in {"EPROTONOSUPPORT", "EPERM"}
    assert len(found) == 23
    assert set(found.values()) == {"EPERM"}
