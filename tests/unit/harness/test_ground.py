"""What every session stands on, on the real engine."""

import json
from contextlib import asynccontextmanager

import anyio
import pytest

from orchestrator.config.settings import ApprovalsSettings, Settings
from orchestrator.errors import ConfigError
from orchestrator.harness.closing import Closing
from orchestrator.harness.governed import govern
from orchestrator.harness.ground import open_ground
from orchestrator.schema.event import SessionStart

pytestmark = pytest.mark.docker


def opened(options, paths, front, worker, then):
    async def visit():
        governed = await govern(options, ApprovalsSettings(), paths, front=front)
        async with open_ground(
            governed, Settings(), paths, front=front, worker=worker, facts={"extra": "told"}
        ) as ground:
            return await then(ground)

    return anyio.run(visit)


@pytest.mark.usefixtures("engine")
def test_ground_is_recorded_and_told(options, paths, front):
    """Who works in it, and facts that its opener adds; judge and box are there."""

    @asynccontextmanager
    async def worker(observe):
        assert observe is not None
        yield "somebody"

    async def then(ground):
        return ground.id, await ground.room.settle(Closing.noting(front.note))

    session, changed = opened(options(), paths, front, worker, then)
    chain = [json.loads(line) for line in paths.audit_log(session).read_text().splitlines()]
    [start] = front.of(SessionStart)

    assert changed == []
    assert chain[0]["body"]["model"] == start.model == "somebody"
    assert chain[0]["body"]["posture"]["extra"] == start.posture["facts"]["extra"] == "told"
    assert [line["type"] for line in chain if line["type"] == "session_end"] == ["session_end"]


@pytest.mark.usefixtures("engine")
def test_worker_that_cannot_be_opened_leaves_nothing(options, paths, front):
    """No session file, no chain, no box."""

    @asynccontextmanager
    async def worker(_observe):
        raise ConfigError("no key")
        yield

    with pytest.raises(ConfigError):
        opened(options(), paths, front, worker, None)
    assert not list(paths.state.glob("audit/*"))
    assert not list(paths.state.glob("sessions/*/*"))
