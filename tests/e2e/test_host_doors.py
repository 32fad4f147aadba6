"""Live sockets and pipes of the host beside and in a project: whole runs, with every mount proved."""

import json
import os
import signal
import time

import pytest

from tests.support.host_doors import HostDoors, knock
from tests.support.workspaces import give
from tests.support.world import bash

pytestmark = pytest.mark.docker

POLICY = """
version: 1
name: doors
extends: [yolo]
sandbox: {require: [expected_mounts]}
commands: {risks: {upload: allow, opaque: allow}}
"""


@pytest.fixture
def bind(world):
    """The flags of a run on the project itself, which belongs to a plain user."""
    (world.root / "doors.yaml").write_text(POLICY)
    give(world.project)
    return ("--workspace", "bind", "--policy", str(world.root / "doors.yaml"))


def outputs(ended):
    return "".join(event["output"] for event in ended.of("tool_end"))


def test_run_reaches_nobody_and_tells_what_it_covers(world, bind):
    """In the project and in a further directory; the posture shows no mount that nobody wanted."""
    further = world.root / "further"
    further.mkdir()
    with HostDoors(world.project) as mine, HostDoors(further) as theirs:
        for doors in (mine, theirs):
            doors.listen("sub/a b.sock")
            doors.pipe("p.fifo")
        script = knock(
            *(f"{top}/{name}" for top in ("/workspace", "/dirs/further") for name in mine.pipes),
            *(f"{top}/sub/a b.sock" for top in ("/workspace", "/dirs/further")),
        )

        ended = world.run(
            *("run", "go", "--json", *bind, "--add-dir", str(further)),
            *("-m", world.script(bash(script), {"text": "Done."})),
        )

        assert ended.code == 0, ended.err
        assert mine.reached() == theirs.reached() == []
    assert len(outputs(ended).strip().splitlines()) == 4
    assert ended.of("session_start")[0]["posture"]["controls"]["expected_mounts"]
    assert "REACHED" not in outputs(ended)
    assert "workspace: covered" in ended.err
    assert f"--add-dir {further}: covered" in ended.err
    assert "'sub/a b.sock' (socket)" in ended.err


def test_end_of_a_run_tells_of_what_the_box_left(world, bind):
    """A pipe of the box's, and a program that runs with its maker's rights."""
    script = "mkfifo made && cp /bin/true tool && chmod 4755 tool"

    ended = world.run("run", "go", *bind, "-m", world.script(bash(script), {"text": "Done."}))

    assert "note: made: a pipe that was not there at the start" in ended.err
    assert "note: tool: set-user-id since the session began (mode 4755)" in ended.err


def test_killed_run_s_empty_directories_go_with_gc(world, bind):
    """Not while it lives; then at once, and only those that are still empty."""
    child = world.start("run", "go", *bind, "-m", world.script(bash("touch here; sleep 300")))
    try:
        while not (world.project / "here").exists():
            assert child.poll() is None, child.stderr.read()
            time.sleep(0.1)
        assert json.loads(world.run("gc", "--json").out)["placeholders"] == []
        assert (world.project / ".husky").is_dir()
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        child.communicate()
    (world.project / ".vscode/mine").write_text("x")

    swept = world.run("gc")

    assert f"session {world.session()} had held in bind mode" in swept.out
    assert sorted(path.name for path in world.project.iterdir()) == [
        ".vscode", "here", "notes.txt",
    ]  # fmt: skip
    assert world.run("gc").err == "nothing to remove\n"
