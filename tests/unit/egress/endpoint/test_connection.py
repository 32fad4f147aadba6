"""HTTP with one client."""

import anyio
import pytest

from orchestrator.egress.endpoint.connection import (
    MAX_BODY,
    ClientConnection,
    ClientGoneError,
    Intake,
)
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.memory import stream_pair


def talk(raw, act, *, capacity=1 << 20):
    """Let a client send ``raw``, do ``act`` with the connection, and return what both got."""

    async def run():
        here, there = stream_pair(capacity)
        await there.send(raw)
        connection = ClientConnection(here)
        result = await act(connection, there)
        await here.close()
        got = b""
        while data := await there.receive():
            got += data
        return result, got

    return anyio.run(run)


async def echo_twice(connection, _there):
    bodies = []
    for _ in range(2):
        head = await connection.next_head()
        bodies.append((head.method, head.path, head.query, await connection.body(Intake())))
        await connection.answer(200, [("x-a", "b")], b"ok")
    return bodies


def test_requests_of_one_connection_come_one_after_the_other():
    """Pipelined ones too."""
    one = b"POST /a?b=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
    bodies, got = talk(one + b"GET /c HTTP/1.1\r\nHost: x\r\n\r\n", echo_twice)

    assert bodies == [("POST", "/a", "b=1", b"hi"), ("GET", "/c", "", b"")]
    assert got.count(b"HTTP/1.1 200") == 2
    assert got.count(b"content-length: 2\r\n\r\nok") == 2


def test_client_that_waits_for_a_go_ahead_gets_it():
    """curl does so for large bodies."""
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"

    async def act(connection, there):
        await connection.next_head()

        async def later():
            assert b" 100 " in await there.receive()
            await there.send(b"hi")

        async with anyio.create_task_group() as group:
            group.start_soon(later)
            return await connection.body(Intake())

    assert talk(head, act)[0] == b"hi"


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 70_000,
    ],
)
def test_broken_request_is_refused(raw):
    """And can still be answered."""

    async def act(connection, _there):
        with pytest.raises(RefusedCallError) as caught:
            await connection.next_head()
        await connection.answer(caught.value.status, [], b"no")
        return await connection.next_head()

    ended, got = talk(raw, act)
    assert ended is None
    assert got.startswith(b"HTTP/1.1 4")


def test_body_that_is_too_large_is_refused():
    """Before it is all here."""
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1)

    async def act(connection, there):
        await connection.next_head()

        async def pour():
            for _ in range(MAX_BODY // 2**20 + 1):
                await there.send(b"x" * 2**20)

        async with anyio.create_task_group() as group:
            group.start_soon(pour)
            with pytest.raises(RefusedCallError) as caught:
                await connection.body(Intake(2 * MAX_BODY))
            group.cancel_scope.cancel()
        return caught.value.status

    assert talk(head, act)[0] == 413


def test_bodies_together_take_so_much_memory_and_no_more():
    """What one request gives back another may take."""
    all_of_them = Intake(10)
    one, two = Intake(within=all_of_them), Intake(within=all_of_them)
    one.take(6)
    with pytest.raises(RefusedCallError) as caught:
        two.take(6)
    assert (caught.value.status, caught.value.retry_after_s) == (503, 2)
    one.release()
    two.take(6)


def test_client_that_went_in_the_middle_is_gone():
    """Nobody is left to be told."""

    async def act(connection, there):
        await connection.next_head()
        await there.send(b"", last=True)
        with pytest.raises(ClientGoneError):
            await connection.body(Intake())

    talk(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhi", act)


def test_end_of_the_client_is_noticed_while_an_answer_is_under_way():
    """What it sent meanwhile is kept for its turn."""

    async def act(connection, there):
        await connection.next_head()
        await connection.body(Intake())
        await there.send(b"GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        with anyio.move_on_after(0.05) as scope:
            await connection.gone()
        await connection.answer(200, [], b"")
        head = await connection.next_head()
        await there.send(b"", last=True)
        with anyio.fail_after(5):
            await connection.gone()
        return scope.cancelled_caught, head.path

    assert talk(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", act)[0] == (True, "/next")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", "HTTP: illegal header line"),
        (b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP: illegal request line"),
    ],
)
def test_broken_request_is_told_in_plain_words(raw, words):
    """No bytes of the program in Python's spelling."""

    async def act(connection, _there):
        with pytest.raises(RefusedCallError) as caught:
            await connection.next_head()
        return caught.value

    refused, _ = talk(raw, act)

    assert (refused.status, refused.message) == (400, words)
