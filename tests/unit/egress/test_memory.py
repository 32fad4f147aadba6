import anyio
import pytest

from orchestrator.egress.memory import stream_pair


def test_what_one_end_sends_the_other_receives_and_then_the_end():
    """Order is kept, and the other direction outlives the end of this one."""

    async def run():
        here, there = stream_pair()
        await here.send(b"one")
        await here.send(b"two", last=True)
        got = [await there.receive(), await there.receive(), await there.receive()]
        await there.send(b"back")
        return got, await here.receive()

    assert anyio.run(run) == ([b"one", b"two", b""], b"back")


def test_a_sender_waits_for_a_receiver_that_is_behind():
    """No more than the capacity and one piece waits, however much is sent."""

    async def run():
        here, there = stream_pair(capacity=10)
        most = 0

        async def sender():
            for _ in range(50):
                await here.send(b"12345")
            await here.send(b"", last=True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sender)
            total = 0
            while data := await there.receive():
                total += len(data)
                await anyio.wait_all_tasks_blocked()
                most = max(most, there.waiting)
        return total, most

    total, most = anyio.run(run)

    assert total == 250
    assert most <= 15


def test_a_waiting_sender_hears_that_the_other_end_closed():
    """Nobody waits for an end that is gone."""

    async def run():
        here, there = stream_pair(capacity=1)
        await here.send(b"1")
        async with anyio.create_task_group() as tasks:

            async def sender():
                with pytest.raises(BrokenPipeError):
                    await here.send(b"2")

            tasks.start_soon(sender)
            await anyio.wait_all_tasks_blocked()
            await there.close()
            await there.close()

    anyio.run(run)


def test_a_closed_end_neither_sends_nor_receives():
    """Closing is for good, and the other end reads what came before."""

    async def run():
        here, there = stream_pair()
        await here.send(b"last words")
        await here.close()
        with pytest.raises(BrokenPipeError):
            await here.send(b"x")
        with pytest.raises(BrokenPipeError):
            await here.receive()
        return await there.receive(), await there.receive()

    assert anyio.run(run) == (b"last words", b"")
