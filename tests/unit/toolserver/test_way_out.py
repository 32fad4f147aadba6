"""The way out of a real box."""

import socket
import time
from dataclasses import dataclass, field, replace

import anyio
import pytest
from loop import Loop
from way_out import WayOut as OutOfTheBox

from orchestrator.errors import BoxError
from orchestrator.sandbox.way_conformance import LEAVE, Echo
from orchestrator.schema.request import Look, ProcessOutput, ProcessStart
from orchestrator.schema.stream import TerminalSize, TerminalTarget
from orchestrator.schema.way_out import WayOut
from tests.unit.toolserver.test_name_addresses import free_port
from tests.unit.toolserver.test_tcp_stream import own_config, read_all

docker = pytest.mark.docker

WAY = WayOut("", environment={"TOKEN": "gbx_1"})
TOLD = "echo $TOKEN $HTTP_PROXY $https_proxy $NO_PROXY"
WORDS = "gbx_1 http://127.0.0.1:3128 http://127.0.0.1:3128 localhost,127.0.0.1,::1\n"

COUNT = """
import asyncio
async def one():
    reader, writer = await asyncio.open_connection("127.0.0.1", 3128)
    async def send():
        for _ in range(16):
            writer.write(bytes(65536))
            await writer.drain()
        writer.write_eof()
    sending = asyncio.create_task(send())
    total = 0
    while piece := await reader.read(65536):
        total += len(piece)
    await sending
    writer.close()
    return total
async def main():
    found = await asyncio.gather(*(one() for _ in range({many})))
    print(len(found), set(found))
asyncio.run(main())
"""

CROWD = 150


@dataclass
class Mirror(Echo):
    """Gives everything back."""

    most: int = 0
    now: int = 0
    crowded: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, _incoming, stream):
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now >= CROWD:
            self.crowded.set()
        while data := await stream.receive():
            await stream.send(data)
        await stream.send(b"", last=True)
        await stream.close()
        self.now -= 1


@docker
def test_commands_processes_and_terminals_are_told(stage):
    """By their variables, the one that was started beforehand too; and no more when it is shut."""

    async def scene(scene):
        box = scene.box
        async with box.let_out(WAY, Echo()):
            said = [await scene.output(TOLD)]
            look = Look(wait_s=20.0, pattern="gbx")
            await box.execute(ProcessStart(TOLD, "/workspace", "it", look=look))
            said.append((await box.execute(ProcessOutput("it", Look(since=0)))).data["text"])
            terminal = await box.open_stream(TerminalTarget(TerminalSize(200), "/workspace", TOLD))
            said.append((await read_all(terminal)).decode().replace("\r", ""))
        return said, await scene.output(TOLD)

    assert stage.play(scene) == ([WORDS] * 3, "\n")


@docker
@pytest.mark.parametrize("sockets", [True, False], ids=["socket", "stdio"])
def test_many_at_a_time_pass_whole_and_delay_no_call(stage, sockets):
    """200 connections with 1 MiB each, both ways at once, with half-closes."""
    outside = []

    async def scene(scene):
        outside.append(Mirror())
        async with scene.box.let_out(WAY, outside[0]), anyio.create_task_group() as group:
            found = []

            async def leave():
                found.append((await scene.python(COUNT.replace("{many}", "200"), 110.0)).data)

            group.start_soon(leave)
            await outside[0].crowded.wait()
            slowest = 0.0
            while not found:
                began = time.monotonic()
                assert await scene.output("echo meanwhile") == "meanwhile\n"
                slowest = max(slowest, time.monotonic() - began)
            return found[0]["head"], slowest

    told, slowest = replace(stage, sockets=sockets).play(scene)

    assert told == f"200 {{{16 * 65536}}}\n"
    assert outside[0].most >= CROWD
    print(f"slowest call beside it: {slowest:.3f} s")


@docker
def test_taken_port_is_a_failure_that_says_so(stage):
    """A session does not begin with a way out that leads to a program of the box."""

    async def scene(scene):
        await scene.run(
            'python3 -c \'import socket,time; s=socket.create_server(("127.0.0.1",3128));'
            "print(1,flush=True); time.sleep(60)' > /tmp/out & until grep -q 1 /tmp/out; do :; done"
        )
        with pytest.raises(BoxError, match="port 3128"):
            async with scene.box.let_out(WAY, Echo()):
                pass
        return await scene.output(TOLD)

    assert stage.play(scene) == "\n"


@docker
def test_end_of_the_box_ends_what_serves(stage):
    """And leaving the context after it is no failure."""

    async def scene(scene):
        async with scene.box.let_out(WAY, Mirror()):
            with anyio.move_on_after(0.5):
                await scene.run(LEAVE)
            await scene.lifecycle.stop(scene.spec.session)

    stage.play(scene)


def test_image_s_own_options_of_java_still_count(tmp_path):
    """Its variables are as before when nothing is let out any more."""
    config = own_config()._replace(environment={"JAVA_TOOL_OPTIONS": "-Xmx1g", "A": "image"})
    renewed = []
    out = OutOfTheBox(Loop(), config, on_variables=lambda: renewed.append(1), trusted=str(tmp_path))
    way = {"certificates": "", "proxy_port": free_port(), "model_port": None}
    variables = {"JAVA_TOOL_OPTIONS": "-Dtrust", "A": "way"}

    class Link:
        def send(self, *_):
            pass

    request = {"kind": "let_out", "way": way | {"transparent_ports": (), "environment": variables}}
    assert out.handle(request, Link()) == {"data": {}}
    open_ = dict(config.environment)
    out.handle({"kind": "let_out", "way": None}, Link())

    assert open_ == {"JAVA_TOOL_OPTIONS": "-Xmx1g -Dtrust", "A": "way"}
    assert config.environment == {"JAVA_TOOL_OPTIONS": "-Xmx1g", "A": "image"}
    assert len(renewed) == 2


def test_more_than_the_most_wait(tmp_path):
    """They are not refused: they are accepted when another is over."""
    loop, sent = Loop(), []

    class Link:
        def send(self, number, kind, _payload=b""):
            sent.append((number, kind))

    out = OutOfTheBox(loop, own_config(), on_variables=list, most=2, trusted=str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    out.begin(
        {"certificates": "", "proxy_port": port, "model_port": None, "transparent_ports": ()},
        Link(),
    )

    def turn():
        for _ in range(5):
            loop._stopped = False
            loop.after(0.01, loop.stop)
            loop.run()

    programs = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    turn()
    assert len(out._open) == 2
    next(iter(out._open.values())).drop()
    turn()
    assert len(sent) == 3
    out.end()
    for program in programs:
        program.close()


TRANSPARENT = """
import http.client, socket
def said(name, port=80):
    try:
        tcp = http.client.HTTPConnection(name, port, timeout=10)
        tcp.request("GET", "/")
        return tcp.getresponse().read().decode()
    except OSError as err:
        return type(err).__name__
print(said("One.known.example"), said("two.known.example", 8443), said("one.known.example", 81),
      said("other.example"), said("two.known.example"))
"""


@dataclass
class Web(Echo):
    """Knows some names, and tells each caller which it asked for."""

    incoming: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    async def serve(self, incoming, stream):
        self.incoming.append(incoming)
        await stream.receive()
        words = f"{incoming.host}:{incoming.port}".encode()
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        await stream.send(head + words, last=True)
        await stream.close()

    async def knows(self, name, caller):
        self.asked.append((name, caller.program))
        return name.endswith("known.example")


@docker
@pytest.mark.parametrize("sockets", [True, False], ids=["socket", "stdio"])
def test_programs_that_know_no_proxy_arrive_by_the_names_they_asked_for(stage, sockets):
    """A name that the host does not know does not exist, a port that is not listened on refuses."""
    outside = Web()
    way = WayOut("", transparent_ports=(80, 443, 8443))

    async def scene(scene):
        async with scene.box.let_out(way, outside):
            told = (await scene.python(TRANSPARENT)).data
        return told["head"].split(), await scene.output("getent hosts one.known.example || echo no")

    told, shut = replace(stage, sockets=sockets).play(scene)

    assert told == [
        *("one.known.example:80", "two.known.example:8443", "ConnectionRefusedError"),
        *("gaierror", "two.known.example:80"),
    ]
    assert shut == "no\n"
    assert {one.door for one in outside.incoming} == {"transparent"}
    assert {one.caller.program for one in outside.incoming} == {"/usr/bin/python3.11"}
    names = ["one.known.example", "two.known.example", "other.example"]
    assert [name for name, _ in outside.asked] == names
