"""What a rewind can go back to while a program works."""

import anyio
import pytest

from orchestrator.config.settings import ApprovalsSettings, Settings
from orchestrator.harness.closing import Closing
from orchestrator.harness.ending import settle
from orchestrator.harness.governed import govern
from orchestrator.harness.ground import open_ground
from orchestrator.harness.options import NO_MODEL
from orchestrator.harness.rewind_turns import turns_of
from orchestrator.harness.wrap.marks import Marks
from orchestrator.harness.wrap.run import no_model
from orchestrator.schema.event import SnapshotTaken
from orchestrator.schema.request import WriteRequest


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_files_are_kept_now_and_then_and_at_the_end(options, paths, front):
    """Each is a turn of its own."""

    taken = anyio.Event()

    def watch(event):
        if isinstance(event, SnapshotTaken):
            taken.set()

    async def visit():
        front.watch = watch
        governed = await govern(options(model=NO_MODEL), ApprovalsSettings(), paths, front=front)
        async with open_ground(governed, Settings(), paths, front=front, worker=no_model) as ground:
            marks = Marks(ground, "wrap x")
            await ground.history.wait()
            async with marks.kept(every_s=0.2):
                await ground.room.box.execute(WriteRequest("/workspace/a", "1"))
                await taken.wait()
            await ground.history.wait()
            await ground.room.box.execute(WriteRequest("/workspace/b", "2"))
            await marks.end()
            turns = turns_of(ground.record.store.tree)
            await settle(ground, Closing.noting(front.note))
            return turns

    turns = anyio.run(visit)
    kept = front.of(SnapshotTaken)

    assert turns[1].words == "wrap x (after 0 min)"
    assert turns[-1].words == "wrap x (its end)"
    assert (kept[0].turn, kept[0].added) == (1, 1)
    assert kept[-1].turn == turns[-1].number
