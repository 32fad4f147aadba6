"""The proxy as a whole: its doors, its bounds, its end; over sockets where that matters."""

import anyio
import pytest

from orchestrator.egress.limits import Limits
from orchestrator.egress.memory import stream_pair
from orchestrator.egress.scripted import Let
from orchestrator.egress.sockets import AddressDialer
from orchestrator.schema.egress import Caller
from orchestrator.schema.way_out import Incoming
from tests.support.egress_scene import (
    ADDRESS,
    HOST,
    QUICK,
    head_of,
    listening,
    rest_of,
    scene,
    some_of,
)

GET = b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def play(act, *rules, **more):
    async def run():
        async with scene(*rules, **more) as stage:
            return await act(stage)

    return anyio.run(run)


@pytest.mark.parametrize(
    ("name", "known"), [(HOST, True), ("A.Example.", True), ("b.example", False), ("a..b", False)]
)
def test_a_name_may_be_looked_up_where_something_on_it_may_be_allowed(name, known):
    """Each look-up is judged and on record, and none of them leaves."""

    async def act(stage):
        said = await stage.proxy.knows(name, Caller(3, "/usr/bin/dig"))
        return said, stage.gate.admitted[0].request, stage.resolver.asked

    said, request, asked = play(act)

    assert said is known
    assert (request.door, request.port) == ("dns", 0)
    assert asked == []


@pytest.mark.parametrize(
    "incoming",
    [
        Incoming("model"),
        Incoming("transparent", "a..b", 443),
        Incoming("transparent", HOST, 0),
        Incoming("transparent", HOST, 70000),
    ],
)
def test_what_comes_by_no_door_of_the_proxy_is_closed(incoming):
    async def act(stage):
        box = stage.dial(incoming)
        await box.send(GET)
        return await rest_of(box), stage.dialer.dialled

    assert play(act) == (b"", [])


def test_one_connection_too_many_is_told_so():
    async def act(stage):
        first = stage.dial()
        await first.send(GET)
        far = await stage.dialer.accept()
        second = stage.dial()
        got = await rest_of(second)
        await far.send(OK)
        return got, await head_of(first)

    got, first = play(act, limits=Limits(connections=1, linger_s=0.1))

    assert got.startswith(b"HTTP/1.1 503")
    assert first == OK


def test_closing_ends_every_connection_and_takes_no_more():
    async def act(stage):
        box = stage.dial()
        await box.send(GET)
        far = await stage.dialer.accept()
        await head_of(far)
        stage.proxy.close()
        ends = await rest_of(box), await rest_of(far)
        late = stage.dial()
        await late.send(GET)
        return ends, await rest_of(late), stage.dialer.dialled

    ends, late, dialled = play(act)

    assert ends == (b"", b"")
    assert late.startswith(b"HTTP/1.1 503")
    assert len(dialled) == 1


def test_a_connection_that_says_nothing_is_ended():
    async def act(stage):
        box = stage.dial()
        return await rest_of(box)

    assert play(act, limits=Limits(keep_s=0.1)) == b""


@pytest.mark.parametrize("how", ["idle", "half-closed"])
def test_a_connection_that_was_served_ends_in_order(how):
    """A reset could take away what was answered before it."""

    class Ends:
        def __init__(self, stream):
            self.stream, self.order = stream, []

        async def receive(self):
            return await self.stream.receive()

        async def send(self, data, *, last=False):
            self.order += ["last"] if last else []
            await self.stream.send(data, last=last)

        async def close(self):
            self.order.append("close")
            await self.stream.close()

    async def act(stage):
        near, box = stream_pair()
        ends = Ends(near)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stage.proxy.serve, ends, Incoming("proxy"))
            await box.send(GET, last=how == "half-closed")
            far = await stage.dialer.accept()
            await head_of(far)
            await far.send(OK)
            got = await rest_of(box)
        return got, ends.order

    assert play(act, limits=Limits(keep_s=0.1, linger_s=0.1)) == (OK, ["last", "close"])


@pytest.mark.parametrize(("scheme", "expected"), [("tcp", "tcp"), ("http", "http"), (None, "http")])
def test_a_program_without_a_proxy_is_read_on_port_80_as_rules_say(scheme, expected):
    async def act(stage):
        box = stage.dial(Incoming("transparent", HOST, 80))
        await box.send(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
        await anyio.wait_all_tasks_blocked()
        return stage.gate.admitted[0].request.scheme

    assert play(act, Let(HOST, scheme, 80) if scheme else Let("b.example")) == expected


def test_a_head_that_never_ends_is_ended():
    async def act(stage):
        box = stage.dial()
        await box.send(b"GET http://a.example/x HTTP/1.1\r\n")
        return await rest_of(box), stage.gate.admitted

    assert play(act, limits=Limits(head_s=0.1)) == (b"", [])


def test_over_real_sockets_many_programs_are_served_at_one_time():
    """Each has its own connections, and gets its own answer."""
    count = 60

    async def run():
        async with anyio.create_task_group() as tasks:

            async def server(stream):
                while head := await head_of(stream):
                    path = head.split(b" ")[1]
                    await stream.send(
                        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path)
                    )

            async with (
                listening(server, tasks) as port,
                scene(Let(HOST, "http"), places={(ADDRESS, 80): port}, limits=QUICK) as stage,
            ):

                async def outside(stream):
                    await stage.proxy.serve(stream, Incoming("proxy"))

                async with listening(outside, tasks) as door:
                    got = {}

                    async def program(number):
                        stream = await AddressDialer().dial("127.0.0.1", door)
                        for turn in range(3):
                            path = b"/%d/%d" % (number, turn)
                            await stream.send(
                                b"GET http://a.example%s HTTP/1.1\r\nHost: a.example\r\n\r\n" % path
                            )
                            head = await head_of(stream)
                            body = head.partition(b"\r\n\r\n")[2]
                            body += await some_of(stream, len(path) - len(body))
                            got[path] = body
                        await stream.close()

                    async with anyio.create_task_group() as programs:
                        for number in range(count):
                            programs.start_soon(program, number)
                dialled = len(stage.dialer.dialled)
            tasks.cancel_scope.cancel()
        return got, dialled

    got, dialled = anyio.run(run)

    assert len(got) == 3 * count
    assert all(path == body for path, body in got.items())
    assert dialled == count
