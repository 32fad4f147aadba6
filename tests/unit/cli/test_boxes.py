"""``ps``, ``kill`` and ``gc`` as a person runs them, beside a real run."""

import json
import os
import signal
import time

import pytest

from tests.support.world import bash

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("image")]


@pytest.fixture
def running(world):
    """Return the session of a run that is in the middle of a command."""
    process = world.start(
        "run", "x", "-m", world.script(bash("sleep 60"), {"text": "never"}), "--json"
    )
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == "decision":
            break
    yield process, event["session"]
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    world.run("gc")


def test_running_box_is_listed_kept_and_ended(world, running):
    """gc leaves the living alone; kill ends the box, and the run says so with code 5."""
    process, session = running

    listed = world.run("ps", "--json")
    swept = world.run("gc", "--json")
    assert session in [box["session"] for box in json.loads(listed.out)["boxes"]]
    assert session in world.run("ps").out
    assert session not in json.loads(swept.out)["boxes"]

    ended = world.run("kill", session[:10])
    events = [json.loads(line) for line in process.stdout]

    assert (ended.code, ended.out) == (0, f"the box of session {session} is gone\n")
    assert process.wait(timeout=30) == 5
    assert (events[-1]["type"], events[-1]["status"]) == ("session_end", "failed")
    assert session not in world.run("ps").out


def test_run_that_was_stopped_for_long_says_what_became_of_its_box(world, running):
    """A box that nobody watches ends itself; the run, continued, ends in order and can go on."""
    process, session = running
    os.kill(process.pid, signal.SIGSTOP)
    deadline = time.monotonic() + 20
    while session in world.run("ps").out:
        assert time.monotonic() < deadline
    os.kill(process.pid, signal.SIGCONT)
    events = [json.loads(line) for line in process.stdout]

    [error] = [event for event in events if event["type"] == "error"]
    assert process.wait(timeout=30) == 5
    assert (events[-1]["type"], events[-1]["status"]) == ("session_end", "failed")
    assert "the host fell silent" in error["message"]
    assert "--continue" in error["hint"]


def test_killing_what_is_not_there_is_a_usage_error(world):
    """With the way to find out what is."""
    ended = world.run("kill", "zzz", env={"GLOVEBOX_DEBUG": None})

    assert (ended.code, ended.out) == (2, "")
    assert "glovebox ps" in ended.err
