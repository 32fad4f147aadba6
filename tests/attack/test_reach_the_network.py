"""A command tries to reach any address or to resolve any name."""

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

CONNECT = """
def reach(family, address):
    def act():
        with socket.socket(family, socket.SOCK_STREAM) as tcp:
            tcp.settimeout(5)
            tcp.connect(address)
    return act

def throw(address):
    def act():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"x", address)
    return act

tried("public", reach(socket.AF_INET, ("192.0.2.1", 443)))
tried("metadata", reach(socket.AF_INET, ("169.254.169.254", 80)))
tried("private", reach(socket.AF_INET, ("172.17.0.1", 22)))
tried("public6", reach(socket.AF_INET6, ("2001:db8::1", 443)))
tried("mapped", reach(socket.AF_INET6, ("::ffff:192.0.2.1", 443)))
tried("udp", throw(("192.0.2.1", 53)))
tried("broadcast", throw(("255.255.255.255", 67)))
tried("multicast", throw(("224.0.0.251", 5353)))
tried("control", reach(socket.AF_INET, ("127.0.0.1", 9)))
"""

RESOLVE = """
def resolve(name):
    def act():
        try:
            return socket.getaddrinfo(name, 443)
        except socket.gaierror as err:
            raise OSError(errno.EHOSTUNREACH, str(err))
    return act

for name in ("example.com", "registry.example", "localhost.example", "metadata.internal"):
    tried(name, resolve(name))
tried("localhost", resolve("localhost"))
print("interfaces", ",".join(sorted(name for _, name in socket.if_nameindex())))
"""


def test_no_address_can_be_reached(stage):
    """Only the box's own loopback exists; everything else has no route."""
    found = attempts(stage, CONNECT)

    assert found.pop("control") == "ECONNREFUSED"
    assert len(found) == 8
    # IPv6 has not even an address to leave from.
    unreachable = {"ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"}
    assert set(found.values()) <= unreachable | {"EPERM", "EACCES"}


def test_no_name_can_be_resolved(stage):
    """The resolver that the box names is its own, and answers nothing."""
    found = attempts(stage, RESOLVE)

    assert found.pop("localhost").startswith("WORKED")
    assert found.pop("interfaces") == "lo"
    assert set(found.values()) == {"EHOSTUNREACH"}
