import anyio
import pytest

from orchestrator.egress.ledger import Ledger, Meter
from orchestrator.egress.live import Carried
from orchestrator.egress.memory import stream_pair
from orchestrator.egress.splice import Splice
from orchestrator.schema.egress import Budget, Terms
from tests.support.egress_scene import rest_of, some_of


def spliced(act, terms=None):
    async def run():
        (near, box), (far, server) = stream_pair(), stream_pair()
        carried = Carried(None, Meter(terms or Terms(), Ledger()), 60.0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Splice(near, far, carried).run)
            result = await act(box, server)
            await box.close()
            await server.close()
        return result, carried

    return anyio.run(run)


def test_bytes_pass_and_are_counted_by_direction():
    async def act(box, server):
        await box.send(b"up")
        await server.send(b"down!")
        return await some_of(server, 2), await some_of(box, 5)

    result, carried = spliced(act)

    assert result == (b"up", b"down!")
    assert (carried.meter.up, carried.meter.down) == (2, 5)


def test_one_direction_may_end_before_the_other():
    async def act(box, server):
        await box.send(b"question", last=True)
        asked = await rest_of(server)
        await server.send(b"answer", last=True)
        return asked, await rest_of(box)

    result, carried = spliced(act)

    assert result == (b"question", b"answer")
    assert carried.problem == ""


def test_an_end_that_breaks_ends_the_other():
    async def act(box, server):
        await server.close()
        await box.send(b"x")
        await box.send(b"", last=True)

    _, carried = spliced(act)

    assert "broke off" in carried.problem


@pytest.mark.parametrize(
    "terms", [Terms(max_upload=5), Terms(budgets=(Budget("session/r", upload=5),))]
)
def test_exactly_as_many_bytes_pass_as_may(terms):
    async def act(box, server):
        await box.send(b"123")
        await box.send(b"456789")
        return await some_of(server, 5)

    result, carried = spliced(act, terms)

    assert result == b"12345"
    assert carried.meter.up == 5
    assert "5 bytes" in carried.problem
