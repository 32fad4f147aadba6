import socket

import anyio
import pytest

from orchestrator.egress.seams import ResolveError
from orchestrator.egress.sockets import BUFFERED, AddressDialer, HostResolver


async def connected():
    """A dialled stream, and the plain socket at its far end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stream = await AddressDialer().dial("127.0.0.1", listener.getsockname()[1])
        far, _ = listener.accept()
    far.settimeout(10)
    return stream, far


def test_bytes_pass_both_ways_and_each_way_ends_by_itself():
    """A half-closed connection still carries the answer."""

    async def run():
        stream, far = await connected()
        with far:
            await stream.send(b"question", last=True)
            asked = await anyio.to_thread.run_sync(far.recv, 100)
            end = await anyio.to_thread.run_sync(far.recv, 100)
            far.sendall(b"answer")
            far.shutdown(socket.SHUT_WR)
            answer = [await stream.receive(), await stream.receive()]
        await stream.close()
        await stream.close()
        return asked, end, answer

    assert anyio.run(run) == (b"question", b"", [b"answer", b""])


def test_a_sender_waits_while_the_far_end_does_not_read():
    """What was not taken by the kernel is not called sent."""

    async def run():
        stream, far = await connected()
        sent = 0
        with far, anyio.move_on_after(1) as scope:
            while True:
                await stream.send(bytes(65536))
                sent += 65536
        await stream.close()
        return scope.cancelled_caught, sent

    stopped, sent = anyio.run(run)

    assert stopped
    assert sent < 64 * 1024 * 1024


def test_a_receiver_that_is_behind_stops_the_sender():
    """Memory holds a bounded part of what a fast sender has."""

    async def run():
        stream, far = await connected()
        far.setblocking(False)
        with far:
            for _ in range(2000):
                try:
                    far.send(bytes(65536))
                except BlockingIOError:
                    await anyio.sleep(0.001)
            waiting = stream._waiting
        await stream.close()
        return waiting

    # One read of asyncio's may be 256 KiB.
    assert anyio.run(run) <= BUFFERED + 256 * 1024


def test_a_connection_that_breaks_is_an_error_and_no_end():
    """A reset may not pass for the end of an answer."""

    async def run():
        stream, far = await connected()
        far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        far.close()
        with pytest.raises(OSError, match="reset"):
            await stream.receive()
        with pytest.raises(OSError, match=r"reset|closed"):
            await stream.send(b"x")

    anyio.run(run)


def test_who_waits_for_bytes_hears_that_the_stream_was_closed():
    """Closing frees the task that receives."""

    async def run():
        stream, far = await connected()
        with far:
            async with anyio.create_task_group() as tasks:

                async def receiver():
                    with pytest.raises(BrokenPipeError):
                        await stream.receive()

                tasks.start_soon(receiver)
                await anyio.wait_all_tasks_blocked()
                await stream.close()

    anyio.run(run)


def test_a_name_is_never_dialled():
    """The dialer looks up nothing."""

    async def run():
        with pytest.raises(OSError, match="not an address"):
            await AddressDialer().dial("localhost", 80)

    anyio.run(run)


def test_nobody_there_is_an_error():
    """A refused connection raises, and leaves no socket behind."""

    async def run():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with pytest.raises(ConnectionRefusedError):
            await AddressDialer().dial("127.0.0.1", port)

    anyio.run(run)


def test_the_host_knows_its_own_name():
    """Addresses come once each."""
    found = anyio.run(HostResolver().resolve, "localhost")

    assert "127.0.0.1" in found
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", ["nowhere.invalid", "a\u00e9.example", "a" * 300])
def test_a_name_without_an_address_is_an_error(name):
    """Also one that no resolver could be asked for."""
    with pytest.raises(ResolveError):
        anyio.run(HostResolver().resolve, name)
