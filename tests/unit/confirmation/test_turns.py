"""One at a time, in an order."""

import anyio

from orchestrator.confirmation.turns import Turns


def taken(*behind, gives_up=()):
    """Return the order in which those who wait have their turn, after one who has it."""
    turns, order, scopes = Turns(), [], []

    async def one(number, is_behind):
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            async with turns.turn(behind=is_behind):
                order.append(number)
                await anyio.lowlevel.checkpoint()

    async def run():
        async with anyio.create_task_group() as group, turns.turn():
            for number, is_behind in enumerate(behind):
                group.start_soon(one, number, is_behind)
            await anyio.wait_all_tasks_blocked()
            for number in gives_up:
                scopes[number].cancel()
        async with turns.turn():
            order.append("free")

    anyio.run(run)
    return order


def test_who_lets_others_go_first_is_behind_them():
    assert taken(True, False, True, False) == [1, 3, 0, 2, "free"]


def test_who_gives_up_holds_nobody_up():
    """Also in the moment in which it would have been its turn."""
    assert taken(False, False, True, gives_up=[0, 2]) == [1, "free"]
    assert taken(False, gives_up=[0]) == ["free"]
