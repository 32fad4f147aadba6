"""One process serves many sessions, and an idle one costs it little."""

import tempfile
from pathlib import Path

import anyio
import pytest

from benchmarks.crowd import ORDER, crowd, resident

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("image")]

MANY = 50
MOST = 2 * 1024**2
"""Bytes of the harness for each idle session; the first one pays for what all share."""


def connections():
    """Return how many sockets this process has."""
    found = Path("/proc/self/fd").iterdir()
    return sum(str(link.readlink()).startswith("socket:") for link in found if link.is_symlink())


@pytest.mark.timeout(500)
def test_fifty_idle_sessions_fit_into_one_process():
    """Opened as any front door opens one; all share a client and a lifecycle, and all still work."""

    async def stand_by(folder):
        async with crowd(folder) as sessions:
            opened = [await sessions.add()]
            before = resident()
            opened += [await sessions.add() for _ in range(MANY - 1)]
            grown = (resident() - before) / (MANY - 1)
            ends = [await session.room.box.execute(ORDER) for session in opened]
            shared = {id(session.room.lifecycle) for session in opened}
        return grown, len(shared), [end.data["exit_code"] for end in ends]

    held = connections()
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        grown, shared, codes = anyio.run(stand_by, Path(folder))

    assert grown <= MOST
    assert shared == 1
    assert codes == [0] * MANY
    assert connections() <= held
