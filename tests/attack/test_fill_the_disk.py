"""A command writes without end: to the workspace, to files it deletes, to memory file systems."""

import shutil
import tempfile
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from orchestrator.schema.request import WriteRequest
from orchestrator.schema.stream import TerminalSize, TerminalTarget
from tests.support.boxes import MIB
from tests.support.budgets import BUDGET, changes
from tests.support.processes import Started, look

pytestmark = pytest.mark.docker

MOST = 20 * BUDGET
"""What a fast disk may take before the watch has looked, counted and ended two writers."""

GROWING = (
    "echo started > mark; for i in $(seq 1 60); do head -c 16M /dev/zero > f$i; sleep 0.05; done"
)
DELETED = "echo started > mark; exec 9> gone; rm gone; for i in $(seq 1 60); do head -c 16M /dev/zero >&9; sleep 0.05; done"


@pytest.mark.parametrize("command", [GROWING, DELETED], ids=["files", "deleted-file"])
def test_writing_past_the_budget_ends_the_call(stage, on_disk, command):
    """Within about a second of the budget the writer is dead, and the session goes on."""

    async def scene(scene):
        began = time.monotonic()
        filled = await scene.run(command, 60.0)
        took = time.monotonic() - began
        following = await scene.output("cat mark; rm -f f*; du -sm . | cut -f1")
        again = await scene.run("echo small > small; sleep 0.6; echo fine")
        return filled, took, following, again

    filled, took, following, again = stage.play(scene, **changes(on_disk))
    print("tried inside:", filled.data["limit"], took, following)

    assert following.startswith("started\n")
    assert filled.data["limit"] == "disk"
    assert took < 15
    assert again.data["head"] == "fine\n"


def test_writing_past_the_budget_ends_a_terminal(stage, on_disk):
    """A person's own command is held to it too."""

    async def scene(scene):
        target = TerminalTarget(TerminalSize(), "/workspace", GROWING)
        stream = await scene.box.open_stream(target)
        with anyio.fail_after(60):
            while await stream.receive():
                pass
        return await stream.close()

    end = stage.play(scene, **changes(on_disk))
    print("tried inside:", end)

    assert (end.exit_code, end.reason) == (None, "disk")


def test_others_filling_the_disk_end_nobody(stage, on_disk):
    """What the host writes meanwhile is not counted against the box."""
    big = Path(tempfile.mkdtemp(prefix="gb-other-", dir="/var/tmp")) / "big"

    def fill():
        with big.open("wb") as file:
            for _ in range(200):
                file.write(bytes(MIB))

    async def scene(scene):
        await anyio.to_thread.run_sync(fill)
        return await scene.run("for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done")

    try:
        outcome = stage.play(scene, **changes(on_disk))
    finally:
        shutil.rmtree(big.parent)

    assert outcome.data["limit"] is None
    assert outcome.data["exit_code"] == 0


def test_tmpfs_is_full_before_the_memory_is(stage):
    """Scratch places have their own size; a full one is an error for the writer alone."""

    async def scene(scene):
        filled = await scene.run(
            "head -c 600M /dev/zero > /tmp/big; ls -l /tmp/big; head -c 600M /dev/zero > /dev/shm/big"
        )
        return filled, await scene.output("echo next; rm /tmp/big /dev/shm/big")

    filled, following = stage.play(scene)
    print("tried inside:", filled.data["head"])

    assert "/tmp/big" in filled.data["head"]
    assert "No space left" in filled.data["head"] or filled.data["limit"] == "disk"
    assert following == "next\n"


def test_one_file_cannot_grow_past_its_limit(stage, on_disk):
    """RLIMIT_FSIZE ends the writer of a single huge file."""

    async def scene(scene):
        return await scene.run(
            "echo started; truncate -s 3G huge; echo code $?; ls -l huge | wc -l"
        )

    outcome = stage.play(scene, **changes(on_disk))

    assert outcome.data["head"].startswith("started\n")
    assert "code 0" not in outcome.data["head"]


def test_what_a_command_left_behind_cannot_fill_the_disk(stage, on_disk):
    """Nobody calls anything any more; the writer is ended all the same."""
    writer = "while :; do head -c 4M /dev/zero >> big; sleep 0.05; done"

    async def scene(scene):
        left = await scene.run(f"({writer}) & echo left")
        await anyio.sleep(6)
        before = await scene.output("stat -c %s big")
        return left, before, await scene.output("sleep 0.5; stat -c %s big; rm big")

    left, before, after = stage.play(scene, **changes(on_disk))

    assert left.data["head"] == "left\n"
    assert BUDGET < int(before) < 4 * BUDGET
    assert after == before


@pytest.mark.parametrize("beside", ["", "sleep 900 & "], ids=["alone", "with-children"])
def test_process_in_the_background_cannot_fill_the_disk(stage, on_disk, beside):
    """It is ended with what it started, and its handle says why."""
    writer = "while :; do head -c 4M /dev/zero >> big; sleep 0.05; done"

    async def scene(scene):
        ended = await Started(scene).start(f"{beside}{writer}", look())
        return ended, await scene.output("pgrep -fa '^sleep 900' || echo none; rm big")

    ended, left = stage.play(scene, **changes(on_disk))

    assert (ended["running"], ended["limit"]) == (False, "disk")
    assert left == "none\n"


def test_full_box_grows_no_more_however_many_calls_it_makes(stage, on_disk):
    """Its commands may write to no file; together they get one small room for all else."""

    async def scene(scene):
        await scene.run(GROWING, 60.0)
        held = int(await scene.output("du -sm . | cut -f1"))
        for number in range(30):
            await scene.run(
                f"head -c 16M /dev/zero > more{number}; head -c 16M /dev/zero >> f1; "
                f"cp f1 copy{number}; truncate -s 1G hole{number}"
            )
            await scene.box.execute(WriteRequest(f"/workspace/tool{number}", "x" * MIB))
        return held, int(await scene.output("du -sm . | cut -f1"))

    held, after = stage.play(scene, **changes(on_disk))
    print("tried inside:", held, after)

    assert held > BUDGET // MIB
    assert after <= held + 1


UNLIMITED = {
    "mapped-holes": """
import mmap, os
file = os.open("hole", os.O_RDWR)
with mmap.mmap(file, 1 << 30) as memory:
    for at in range(0, 1 << 30, 1 << 20):
        memory[at:at + (1 << 20)] = bytes([at >> 20 & 255]) * (1 << 20)
""",
    "reserved-beyond-the-end": """
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
for number in range(64):
    file = os.open(f"r{number}", os.O_CREAT | os.O_RDWR)
    libc.fallocate64(file, 1, ctypes.c_int64(0), ctypes.c_int64(16 << 20))
    time.sleep(0.02)
""",
}


@pytest.mark.parametrize("way", UNLIMITED)
def test_full_box_that_grows_past_the_file_limit_runs_nothing_more(stage, on_disk, way):
    """What a limit on files cannot refuse is found on disk, and then the session is closed."""

    async def scene(scene):
        script = WriteRequest("/workspace/way.py", UNLIMITED[way])
        assert (await scene.box.execute(script)).error is None
        await scene.output("truncate -s 1G hole")
        await scene.run(GROWING, 60.0)
        tried = []
        for _ in range(40):
            tried.append(await scene.run("python3 way.py; sleep 1", 60.0))
            if tried[-1].error is not None:
                break
        return tried

    tried = stage.play(scene, **changes(on_disk))
    written = sum(file.stat().st_blocks * 512 for file in on_disk.rglob("*"))
    print("tried inside:", len(tried), tried[-1].error, written // MIB)

    assert tried[-1].code == "no_space"
    assert "no command runs any more" in tried[-1].error
    assert written < MOST
