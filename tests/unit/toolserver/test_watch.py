from dataclasses import replace

import anyio
import pytest

from tests.support.boxes import LIMITS, MIB

pytestmark = pytest.mark.docker


def test_box_over_its_budget_can_still_clean_up(stage):
    """A full box must be able to run the command that empties it."""

    async def scene(scene):
        filled = await scene.run("head -c 40M /dev/zero > big; sleep 5")
        listed = await scene.run("ls; sleep 0.7; echo slept")
        await scene.run("rm big")
        again = await scene.run("head -c 40M /dev/zero > big; sleep 5")
        return filled, listed, again

    filled, listed, again = stage.play(scene, limits=replace(LIMITS, disk=24 * MIB))

    assert filled.data["limit"] == "disk"
    assert listed.data["head"].endswith("slept\n")
    assert again.data["limit"] == "disk"


def test_box_that_fills_its_processes_for_a_moment_is_let_be(stage):
    """A build may need all processes for an instant."""

    async def scene(scene):
        return await scene.run("for i in $(seq 115); do sleep 0.1 & done; wait; echo built")

    outcome = stage.play(scene)

    assert outcome.data["head"].endswith("built\n")
    assert outcome.data["limit"] is None


def test_idle_box_uses_no_processor(stage):
    """Nothing looks at anything while no command runs."""

    async def scene(scene):
        async def ticks():
            text = await scene.output("cat /proc/$(pgrep -f opt/glovebox | head -1)/stat")
            fields = text.rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])

        before = await ticks()
        await anyio.sleep(3)
        return await ticks() - before

    assert stage.play(scene) <= 3
