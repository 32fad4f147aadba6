"""A seat at a pseudo-terminal with a chat's surface on it."""

import anyio
import pytest

from tests.support.chat_seat import ChatSeat


@pytest.fixture
def sit(tmp_path):
    """Run an async scene with a seat."""
    seats = []

    def play(scene, **options):
        seat = ChatSeat(tmp_path, **options)
        seats.append(seat)

        async def whole():
            with anyio.fail_after(60):
                async with seat.sitting():
                    await scene(seat)

        anyio.run(whole)
        return seat

    yield play
    for seat in seats:
        seat.close()
