"""An answer on its way to the client."""

import anyio
import pytest

from orchestrator.egress.endpoint.connection import ClientConnection
from orchestrator.egress.endpoint.echo import Echoes
from orchestrator.egress.endpoint.outlet import Outlet
from orchestrator.egress.memory import stream_pair
from orchestrator.redaction.known import KnownValues

KEY = "sk-real-key-4f9a1c77d2e8b6"
FIRST = b'data: {"delta": "sk-real"}\n\n'
REST = b'data: {"delta": "-key-4f9a1c77d2e8b6"}\n\n'


def written(act, *, events):
    """Return the bytes that a client gets while ``act`` writes."""

    async def run():
        here, there = stream_pair(1 << 20)
        await there.send(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        connection = ClientConnection(here)
        await connection.next_head()
        outlet = Outlet(connection, Echoes(KnownValues({"k": KEY}), "gbx_p"))
        await outlet.start(200, [("x-id", KEY)], events=events)
        await act(outlet, there)
        await here.close()
        got = b""
        while data := await there.receive():
            got += data
        return got

    return anyio.run(run)


async def two_pieces(outlet, _there):
    await outlet.write(FIRST)
    await outlet.write(REST)
    await outlet.flush()
    await outlet.finish()


@pytest.mark.parametrize(("events", "times"), [(True, 2), (False, 1)])
def test_pieces_are_joined_in_a_stream_of_events_only(events, times):
    """The header is scrubbed either way."""
    got = written(two_pieces, events=events)

    assert got.count(b"gbx_p") == times
    assert (b"-key-4f9a1c77d2e8b6" in got) is not events
    assert got.endswith(b"0\r\n\r\n")


def test_tending_lets_go_what_waits_for_a_silent_provider():
    """The client reads it while the stream stays open."""

    async def act(outlet, there):
        async with anyio.create_task_group() as group:
            group.start_soon(outlet.tend)
            await outlet.write(FIRST)
            got = b""
            while FIRST not in got:
                got += await there.receive()
            group.cancel_scope.cancel()

    written(act, events=True)
