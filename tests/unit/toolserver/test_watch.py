from dataclasses import replace

import anyio
import pytest

from orchestrator.schema.request import EditRequest, ProcessStart, Replacement, WriteRequest
from orchestrator.schema.stream import TerminalSize, TerminalTarget
from tests.support.boxes import LIMITS, MIB

pytestmark = pytest.mark.docker


FILL = "head -c 40M /dev/zero > big; sleep 5"
SMALL = {"limits": replace(LIMITS, disk=24 * MIB)}


def test_box_over_its_budget_can_still_clean_up(stage):
    """A full box must be able to run the command that empties it, and is then as before."""

    async def scene(scene):
        filled = await scene.run(FILL)
        listed = await scene.run("ls; sleep 0.7; echo slept 2> /dev/null")
        await scene.run("rm big")
        written = await scene.run("echo word > small; cat small")
        return filled, listed, written, await scene.run(FILL)

    filled, listed, written, again = stage.play(scene, **SMALL)

    assert filled.data["limit"] == "disk"
    assert listed.data["head"].endswith("slept\n")
    assert "commands can remove files (rm) but write to none" in listed.data["full"]
    assert (written.data["head"], written.data["full"]) == ("word\n", None)
    assert again.data["limit"] == "disk"


def test_box_over_its_budget_writes_nothing_more(stage):
    """Not by one command after the other, not by the file tools, not in the background."""

    async def scene(scene):
        await scene.run(FILL)
        before = await scene.output("du -sk . | cut -f1")
        for number in range(20):
            await scene.run(f"head -c 4M /dev/zero > more{number}; echo x >> big")
        tried = [
            await scene.box.execute(WriteRequest("/workspace/new", "x" * 100_000)),
            await scene.box.execute(EditRequest("/workspace/small", (Replacement("a", "b"),))),
            await scene.box.execute(ProcessStart("sleep 9", "/workspace", "p")),
        ]
        return int(before), tried, int(await scene.output("du -sk . | cut -f1"))

    async def with_small(seen):
        await seen.box.execute(WriteRequest("/workspace/small", "a"))
        return await scene(seen)

    before, tried, after = stage.play(with_small, **SMALL)

    assert before > 24 * 1024
    assert [outcome.code for outcome in tried] == ["no_space"] * 3
    assert "the disk budget of the box is used up" in tried[0].error
    assert after <= before


def test_terminal_of_a_full_box_says_so_and_can_remove(stage):
    """A person who comes to clean up sees why nothing can be written."""

    async def scene(scene):
        await scene.run(FILL)
        target = TerminalTarget(TerminalSize(), "/workspace", "echo x > new; rm big; echo done")
        stream = await scene.box.open_stream(target)
        text = b""
        with anyio.fail_after(30):
            while data := await stream.receive():
                text += data
        await stream.close()
        return text.decode(), await scene.output("ls; echo x > new")

    text, left = stage.play(scene, **SMALL)

    assert "the disk budget of the box is used up" in text
    assert "File too large" in text
    assert "done" in text
    assert left == "new\n"


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
