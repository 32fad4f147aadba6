"""Connections that were let out go on talking after the rules changed, and open again."""

import asyncio

import anyio
import pytest

from orchestrator.schema.event import PolicyChange
from tests.support.outing import allow
from tests.support.trapped import trapped
from tests.support.upstream import PUBLIC

pytestmark = pytest.mark.docker
OPEN = {"kept.acme.example": "kept", "gone.acme.example": "gone"}

TALK = r"""
import socket, sys, threading, time
end = time.time() + 7
told = {}
def tunnel(host):
    link = socket.create_connection(("127.0.0.1", 3128), 10)
    link.sendall(f"CONNECT {host}:9000 HTTP/1.1\r\nHost: {host}:9000\r\n\r\n".encode())
    head = link.recv(4096)
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise OSError("refused")
    return link
def upload(host):
    link = socket.create_connection(("127.0.0.1", 3128), 10)
    link.sendall(f"POST http://{host}/up HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    return link
def talk(name, host, begin, dress):
    sent = lost = 0
    link = None
    while time.time() < end:
        try:
            link = link or begin(host)
            sent += 1
            link.sendall(dress(f"<{name} {sent}>".encode()))
        except OSError:
            lost += 1
            link = None
        time.sleep(0.05)
    told[name] = (sent, lost)
plain = lambda text: text
chunk = lambda text: b"%x\r\n%s\r\n" % (len(text), text)
who = [(f"{way}-{host.split('.')[0]}", host, begin, dress)
       for host in ("kept.acme.example", "gone.acme.example")
       for way, begin, dress in (("tunnel", tunnel, plain), ("upload", upload, chunk))]
threads = [threading.Thread(target=talk, args=one) for one in who]
for thread in threads: thread.start()
for thread in threads: thread.join()
for name, (sent, lost) in told.items(): print(name, sent, lost)
"""


class Listener:
    """A server that hears all four, and has the rules changed once all have begun."""

    def __init__(self, change):
        self.change = change
        self.heard = {}
        self.after = {}
        self.changed = None

    async def hear(self, data):
        for word in data.split(b"<")[1:]:
            name = word.split(b" ")[0].decode()
            self.heard[name] = self.heard.get(name, 0) + 1
            # A change is seen within a second; what is heard two seconds later should not be.
            if self.changed is not None and asyncio.get_running_loop().time() > self.changed + 2.5:
                self.after[name] = self.after.get(name, 0) + 1
        if self.changed is None and len(self.heard) == 4:
            self.change()
            self.changed = asyncio.get_running_loop().time()

    async def answer(self, head, reader, writer):  # noqa: ARG002 - the form of Answer
        while data := await reader.read(65536):
            await self.hear(data)

    async def accept(self, reader, writer):
        try:
            while data := await reader.read(65536):
                await self.hear(data)
        except OSError:
            pass
        finally:
            writer.close()


def test_nothing_is_heard_of_what_is_no_longer_let_out(outing):
    """A tunnel and an upload that never end, and try again: silent once refused; others talk on."""
    rules = outing.root / "policy.yaml"

    def change():
        text = rules.read_text()
        rules.write_text(text.replace("- gone.acme.example", "- nobody.acme.example"))

    listener = Listener(change)

    async def run():
        async with trapped(*OPEN, answer=listener.answer) as outside:
            opaque = await asyncio.start_server(listener.accept, "127.0.0.1", 0)
            async with opaque:
                outside.net.dialer._places[PUBLIC, 9000] = opaque.sockets[0].getsockname()[1]
                hosts = list(OPEN)
                policy = outing.policy(
                    default="deny",
                    rules=[
                        allow(*hosts, schemes=["http"]),
                        allow(*hosts, schemes=["tcp"], ports=[9000]) | {"id": "tcp"},
                    ],
                )
                (outing.project / "talk.py").write_text(TALK)
                return await outing.run(policy, "python3 talk.py", net=outside.net), outside

    (output,), outside = anyio.run(run)

    told = {
        name: (int(sent), int(lost)) for name, sent, lost in map(str.split, output.splitlines())
    }
    assert set(told) == {"tunnel-kept", "tunnel-gone", "upload-kept", "upload-gone"}
    assert set(listener.heard) == set(told)
    assert set(listener.after) == {"tunnel-kept", "upload-kept"}
    assert told["tunnel-gone"][1] > 0
    assert outside.caught == []
    assert [event.closed for event in outing.told.of(PolicyChange)] == [2]
