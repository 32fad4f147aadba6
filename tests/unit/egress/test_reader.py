import anyio
import pytest

from orchestrator.egress.memory import stream_pair
from orchestrator.egress.reader import AHEAD, ReadAhead
from orchestrator.errors import BoxError


def reading(scene):
    """Run a scene with a reader that reads ahead, and the far end."""

    async def run():
        near, far = stream_pair()
        reader = ReadAhead(near)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)
            result = await scene(reader, far)
            tasks.cancel_scope.cancel()
        return result

    return anyio.run(run)


def test_what_came_is_given_and_what_was_put_back_comes_first():
    async def scene(reader, far):
        await far.send(b"bc")
        got = await reader.receive()
        reader.unread(b"a" + got)
        await far.send(b"d", last=True)
        await anyio.wait_all_tasks_blocked()
        return [await reader.receive(), await reader.receive()]

    assert reading(scene) == [b"abcd", b""]


def test_the_end_is_heard_while_nobody_receives():
    async def scene(reader, far):
        before = reader.quiet, reader.ended
        await far.send(b"", last=True)
        await anyio.wait_all_tasks_blocked()
        return before, (reader.quiet, reader.ended, reader.broken)

    assert reading(scene) == ((True, False), (False, True, False))


def test_no_more_is_read_ahead_than_the_bound():
    """A sender that nobody listens to has to wait."""

    async def scene(_reader, far):
        sent = 0
        with anyio.move_on_after(0.5):
            while True:
                await far.send(bytes(1024))
                sent += 1024
        return sent

    # As much again waits in the stream itself.
    assert reading(scene) <= 2 * AHEAD + 4096


class Broken:
    def __init__(self, error):
        self.error = error

    async def receive(self):
        raise self.error

    async def send(self, data, *, last=False):  # noqa: ARG002 - the seam's
        raise self.error

    async def close(self):
        raise self.error


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), BoxError("gone")])
def test_a_stream_that_breaks_is_an_error_of_one_kind(error):
    """A box that is gone is a connection that broke."""

    async def run():
        reader = ReadAhead(Broken(error))
        await reader.run()
        with pytest.raises(OSError, match="gone"):
            await reader.receive()
        with pytest.raises(OSError, match="gone"):
            await reader.send(b"x")
        await reader.close()
        return reader.broken, reader.ended

    assert anyio.run(run) == (True, True)


def test_a_receiver_waits_only_as_long_as_it_says():
    """A time that was over once does not count for the next wait."""

    async def scene(reader, far):
        with pytest.raises(TimeoutError):
            await reader.receive(0.05)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(far.send, b"late")
            got = await reader.receive()
        reader._expire()
        tasks_done = await reader_and(far, reader)
        return got, tasks_done

    async def reader_and(far, reader):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(far.send, b"later")
            return await reader.receive(5)

    assert reading(scene) == (b"late", b"later")


def test_after_a_hand_over_nothing_is_lost_and_nothing_read_ahead():
    async def run():
        near, far = stream_pair()
        reader = ReadAhead(near)
        async with anyio.create_task_group() as tasks:
            ended = []

            async def ahead():
                ended.append(await reader.run())

            tasks.start_soon(ahead)
            await anyio.wait_all_tasks_blocked()
            reader.hand_over()
            await far.send(b"one")
            got = [await reader.receive()]
            await far.send(b"two")
            await anyio.wait_all_tasks_blocked()
            waiting = near.waiting
            got.append(await reader.receive())
            await far.send(b"", last=True)
            got += [await reader.receive(), await reader.receive()]
        return got, waiting, ended

    assert anyio.run(run) == ([b"one", b"two", b"", b""], 3, [False])
