"""Choosing a row by keys, in the place of the input line."""

import anyio
import pytest

from orchestrator.cli.chat.picker import HINT

ROWS = [f"row {number}" for number in range(40)]


@pytest.fixture
def choose(sit):
    """Return what keys choose, begun at row 20, and what was on the screen before the last key."""

    def play(*keys):
        got = []

        async def scene(seat):
            seat.type("my draft")
            await seat.until("my draft")

            async def ask():
                got.append(await seat.surface.choose(ROWS, 20))

            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await seat.until("row 20")
                await seat.until(HINT[:20])
                assert "my draft" not in seat.text()
                assert len([row for row in seat.screen.display if "row " in row]) == 8
                for key in keys:
                    await seat.look(0.15)
                    got[:] = [seat.text()]
                    seat.type(key)
            await seat.until("my draft")

        sit(scene)
        return got

    return play


UP, DOWN, PAGE_UP, PAGE_DOWN = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~"


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (["\r"], 20),
        ([UP, UP, "\r"], 18),
        (["j", DOWN, "\r"], 22),
        ([PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, "\r"], 39),
        ([PAGE_UP, "\r"], 10),
        (["\x1b[H", UP, "\r"], 0),
        (["\x1b[F", "\r"], 39),
        ([DOWN, "\x1b"], None),
        (["q"], None),
        (["\x03"], None),
        (["\x04"], None),
    ],
)
def test_keys_move_take_and_go_back(choose, keys, row):
    """The row that is taken was on the screen; the draft is there again afterwards."""
    screen, chosen = choose(*keys)

    assert chosen == row
    assert row is None or f"row {row}" in screen
