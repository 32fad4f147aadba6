import anyio

from orchestrator.egress.limits import Limits
from orchestrator.egress.line import Life, Line, Parts
from orchestrator.egress.memory import stream_pair
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.refusals import malformed
from tests.support.egress_scene import rest_of


def lining(act, **limits):
    async def run():
        near, box = stream_pair()
        reader = ReadAhead(near)
        parts = Parts(
            None,
            None,
            None,
            limits=Limits(**limits),
            tls=None,
            injector=None,
            watch=None,
            recorder=None,
        )
        line = Line(parts, reader, None, door="http", caller=None, life=Life(1.0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)
            result = await act(line, box)
            tasks.cancel_scope.cancel()
        return result

    return anyio.run(run)


def test_a_refused_sender_is_heard_out_so_that_it_reads_why():
    async def act(line, box):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(line.refuse, malformed(400, "why"))
            for _ in range(10):
                await box.send(bytes(50_000))
            got = await rest_of(box)
            await box.close()
        return got

    assert b"reason: why" in lining(act)


def test_nobody_is_heard_out_for_ever():
    async def act(line, _box):
        await line.refuse(malformed(400, "why"))
        return True

    assert lining(act, linger_s=0.1)


def test_an_answer_to_head_is_a_head():
    async def act(line, box):
        await line.refuse(malformed(400, "why"), method="HEAD")
        return await rest_of(box)

    assert lining(act, linger_s=0.1).endswith(b"\r\n\r\n")


def test_who_is_gone_is_told_nothing():
    async def act(line, box):
        await box.close()
        await line.refuse(malformed(400, "why"))
        await line.finish()
        return True

    assert lining(act)
