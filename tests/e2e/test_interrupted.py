"""Runs that end early: Ctrl-C, kill -9, and going on afterwards."""

import json
import os
import signal
import subprocess
import time

import pytest

from tests.support.world import bash

pytestmark = pytest.mark.docker

COUNT_AND_WAIT = "echo x >> /workspace/counter; sleep 60"


def containers(session):
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=glovebox.session={session}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def until_running(process):
    """Read events until the command's intent was judged; return the session's id."""
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == "decision":
            return event["session"]
    raise AssertionError(process.stderr.read())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_cleanly_and_resumably(world, number, code):
    """No container stays, the audit is closed, and the session goes on later."""
    model = world.script(bash(COUNT_AND_WAIT), {"text": "went on"})
    process = world.start("run", "x", "-m", model, "--json")
    session = until_running(process)
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)

    assert process.returncode == code, err
    assert json.loads(out.splitlines()[-1])["status"] == "interrupted"
    assert containers(session) == []
    assert world.run("audit", "verify", session, "--require-closed").code == 0

    resumed = world.run("run", "--resume", session, "-m", model)

    assert (resumed.code, resumed.out) == (0, "went on\n"), resumed.err


def test_kill_nine_leaves_no_container_and_runs_nothing_twice(world):
    """The whole story: killed, gone within 5 s, resumed, told, closed."""
    told = {"last_tool_output_contains": "interrupted"}
    model = world.script(
        bash(COUNT_AND_WAIT), {**bash("cat /workspace/counter"), "expect": told}, {"text": "ok"}
    )
    process = world.start("run", "x", "-m", model, "--json", process_group=0)
    session = until_running(process)
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    assert wait_for(lambda: containers(session) == [], 5.0)
    verified = world.run("audit", "verify", session)
    assert (verified.code, "intact, open" in verified.out) == (0, True), verified.err
    assert world.run("audit", "verify", session, "--require-closed").code == 7

    resumed = world.run("run", "--resume", session, "-m", model, "--json")

    assert resumed.code == 0, resumed.err
    assert resumed.of("tool_end")[0]["output"].split() == ["x"]
    verified = world.run("audit", "verify", session)
    assert "intact, closed" in verified.out
    assert "interrupted" in verified.out


def test_a_session_that_runs_cannot_be_resumed_beside_it(world):
    """One writer: the second is refused and told who holds it."""
    model = world.script(bash("sleep 60"), {"text": "."})
    process = world.start("run", "x", "-m", model, "--json")
    session = until_running(process)
    second = world.run("run", "--resume", session, "-m", model)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)

    assert second.code == 1
    assert str(process.pid) in second.err


@pytest.mark.timeout(400)
def test_start_that_is_killed_at_any_step_leaves_nothing_that_gc_does_not_find(world):
    """A folder is removed, or belongs to a session that can be resumed."""
    model = world.script(bash("echo x > made"), {"text": "done"})
    steps = {"unbegun": 0, "begun": 0}
    for step in range(1, 120, 4):
        died = world.run(str(step), "run", "x", "-m", model, module="tests.support.killed_at")
        if died.code == 0:
            break
        swept = world.run("gc")
        assert swept.code == 0, swept.err
        begun = {path.stem.rpartition("_")[2] for path in world.state.glob("sessions/*/*.jsonl")}
        work = world.state / "work"
        left = {path.name for path in work.iterdir()} if work.exists() else set()
        assert left <= begun, step
        announced = world.state / "beginnings"
        assert not announced.exists() or not [p for p in announced.iterdir() if p.name[0] != "."]
        steps["begun" if left else "unbegun"] += "killed start" in swept.out or bool(left)
    assert min(steps.values()) > 0, steps
