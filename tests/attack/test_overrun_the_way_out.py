"""A command takes the server's ports first, or overruns them; the session goes on."""

import time

import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.schema.way_out import WayOut
from tests.attack.test_leave_beside_the_proxy import WAY, Heard

pytestmark = pytest.mark.docker

STEAL = (
    "nohup python3 -c 'import socket, time; s = socket.socket(socket.AF_INET, {kind}); "
    's.bind(("{host}", {port})); s.type == 1 and s.listen(); print(1, flush=True); '
    "time.sleep(60)' > /tmp/out 2>&1 & for i in $(seq 100); do grep -q 1 /tmp/out && exit; sleep 0.05; done"
)

NAMES = """
import os, socket, struct, time
end = time.time() + 4
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.connect(("127.0.0.1", 53))
udp.setblocking(False)
sent = 0
while time.time() < end:
    label = os.urandom(15).hex().encode()
    try:
        udp.send(struct.pack("!HHHHHH", 1, 256, 1, 0, 0, 0) + bytes([30]) + label + b"\\0\\0\\1\\0\\1")
        sent += 1
    except OSError:
        pass
print(sent)
"""

CONNECTIONS = """
import resource, selectors, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held, tried = [], 0
end = time.time() + 20
while tried < 10_000 and time.time() < end:
    tcp = socket.socket()
    tcp.setblocking(False)
    tcp.connect_ex(("127.0.0.1", 3128))
    held.append(tcp)
    tried += 1
    if len(held) > 3000:
        held.pop(0).close()
print(tried, flush=True)
time.sleep(2)
"""

HAMMER = """
import socket, struct, time
end, count = time.time() + 4, 0
while time.time() < end:
    tcp = socket.create_connection(("127.0.0.1", 3128))
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    tcp.send(bytes(100))
    tcp.close()
    count += 1
print(count)
"""

ASK = "exec 3<>/dev/tcp/127.0.0.1/3128 && echo hello >&3 && cat <&3"


@pytest.mark.parametrize(
    ("kind", "host", "port"),
    [
        ("socket.SOCK_STREAM", "127.0.0.1", 3128),
        ("socket.SOCK_STREAM", "0.0.0.0", 3128),
        ("socket.SOCK_DGRAM", "127.0.0.1", 53),
        ("socket.SOCK_STREAM", "127.0.0.1", 53),
    ],
)
def test_stolen_port_keeps_the_way_shut(stage, kind, host, port):
    """Nothing is let out past a program that could read along; the words name the port."""

    async def scene(scene):
        await scene.output(STEAL.format(kind=kind, host=host, port=port))
        with pytest.raises(BoxError, match=f"port {port}"):
            async with scene.box.let_out(WAY, Heard()):
                pass
        return await scene.output("echo $HTTP_PROXY on")

    assert stage.play(scene) == "on\n"


@pytest.mark.parametrize(
    ("source", "least"),
    [(NAMES, 5000), (CONNECTIONS, 1000), (HAMMER, 200)],
    ids=["names", "connections", "short ones"],
)
@pytest.mark.timeout(180)
def test_flood_delays_the_flooder_alone(stage, source, least):
    """Calls go on beside it, the host is asked little, and after it the way is as before."""
    outside = Heard()

    async def scene(scene):
        calls = []
        async with scene.box.let_out(WAY, outside):
            async with anyio.create_task_group() as group:
                flood = []

                async def overrun():
                    flood.append((await scene.python(source, 60.0)).data["head"])

                group.start_soon(overrun)
                await anyio.sleep(0.5)
                while not flood:
                    began = time.monotonic()
                    assert await scene.output("echo on") == "on\n"
                    calls.append(time.monotonic() - began)
                    await anyio.sleep(0.1)
            after = await scene.output(ASK)
        return flood[0], calls, after

    flood, calls, after = stage.play(scene)
    print(f"flooded with {flood.strip()}; slowest call beside it {max(calls):.3f} s")

    assert int(flood) >= least
    assert len(calls) > 3
    assert after == "heard"
    assert len(outside.names) < 1500


def test_killing_all_it_may_leaves_the_way_open(stage):
    """The listener is the server's, which no command can signal."""

    async def scene(scene):
        async with scene.box.let_out(WayOut(""), Heard()):
            await scene.run("kill -9 -1")
            return await scene.output(ASK)

    assert stage.play(scene) == "heard"
