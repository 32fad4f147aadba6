"""Sessions of one process share what they have of an engine, and the last one closes it."""

import os
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.errors import EngineUnavailable
from orchestrator.harness.engines import hold_engine
from orchestrator.harness.room import open_room
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import SessionId
from orchestrator.schema.request import ExecRequest

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures("engine"),
    # The SDK's own: a socket whose connecting failed is left to the collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

SESSIONS = (SessionId(secrets.token_hex(6)), SessionId(secrets.token_hex(6)))


def until(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_second_user_shares_what_the_first_one_has(paths, proxy):
    """It stays open until the last one leaves, however often one closes; then it begins anew."""
    first, second = (hold_engine(paths, os.environ) for _ in range(2))
    assert first.engine is second.engine
    assert first.lifecycle is second.lifecycle

    first.close()
    first.close()
    assert second.engine.info().name
    assert proxy.live > 0

    second.close()
    until(lambda: proxy.live == 0)
    third = hold_engine(paths, os.environ)
    assert third.engine is not first.engine
    third.close()


def test_another_state_directory_or_engine_is_not_shared(paths, proxy, tmp_path):
    """What one of them closes is not the other's."""
    direct = {name: value for name, value in os.environ.items() if name != "DOCKER_HOST"}
    elsewhere = replace(paths, state=tmp_path / "another")
    holds = [
        hold_engine(paths, os.environ),
        hold_engine(elsewhere, os.environ),
        hold_engine(paths, direct),
    ]

    assert len({id(hold.engine) for hold in holds}) == 3
    assert holds[0].engine.url == proxy.url != holds[2].engine.url
    for hold in holds:
        hold.close()


def test_engine_that_has_gone_is_told_and_taken_up_again(paths, proxy):
    """A later session hears of it at once; those that have it go on when it is back."""
    first = hold_engine(paths, os.environ)
    proxy.cut()

    with pytest.raises(EngineUnavailable, match="no container engine answers"):
        hold_engine(paths, os.environ)

    proxy.listen()
    second = hold_engine(paths, os.environ)
    assert second.engine is first.engine
    assert first.engine.info().name
    first.close()
    second.close()
    until(lambda: proxy.live == 0)


def test_users_that_come_at_once_share_one(paths, proxy):
    """Whoever connected in vain closes what it made."""
    crowd = 8
    barrier = threading.Barrier(crowd)

    def come(_):
        barrier.wait()
        return hold_engine(paths, os.environ)

    with ThreadPoolExecutor(crowd) as pool:
        holds = list(pool.map(come, range(crowd)))
        assert len({id(hold.engine) for hold in holds}) == 1
        list(pool.map(lambda hold: hold.close(), holds))

    until(lambda: proxy.live == 0)


def test_sessions_of_two_event_loops_do_not_disturb_each_other(options, paths, front):
    """One that leaves takes nothing of the other's along."""
    policy = load_policy(["default"], search=asset("policies"), user_file=None)
    both_up, one_left = threading.Barrier(2, timeout=60), threading.Event()
    lifecycles = []

    async def visit(number):
        async with open_room(
            options(), policy, paths, session=SESSIONS[number], note=front.note
        ) as room:
            lifecycles.append(room.lifecycle)
            await anyio.to_thread.run_sync(both_up.wait)
            if number:
                await anyio.to_thread.run_sync(one_left.wait, 60)
            # Beyond a heartbeat of the heart that both had.
            await anyio.sleep(1.5 * number)
            outcome = await room.box.execute(ExecRequest("echo $((6*7))", "/workspace", 10.0))
        if not number:
            one_left.set()
        return outcome.data["head"]

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda number: anyio.run(visit, number), range(2)))

    assert said == ["42\n", "42\n"]
    assert lifecycles[0] is lifecycles[1]
