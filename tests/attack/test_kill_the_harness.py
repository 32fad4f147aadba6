"""The harness dies, or stops, in the middle of a tool call."""

import os
import signal
import subprocess
import sys
import time

import pytest

from orchestrator.engine.containers import find_containers

pytestmark = pytest.mark.docker

HARNESS = """
import sys
from pathlib import Path
from orchestrator.engine.client import connect
from tests.support.boxes import Stage

async def scene(scene):
    print(scene.spec.session, flush=True)
    await scene.run("sleep 100", 100.0)

Stage(connect(), sys.argv[1], Path(sys.argv[2])).play(scene)
"""


@pytest.fixture
def harness(sandbox_image, runtime_directory):
    """A harness process whose box runs a command, and the session's id."""
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, sandbox_image, str(runtime_directory)],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            session = child.stdout.readline().strip()
            assert session
            time.sleep(0.5)
            yield child, session
        finally:
            child.kill()


def seconds_until_gone(engine, session, limit):
    began = time.monotonic()
    while time.monotonic() - began < limit:
        running = [c for c in find_containers(engine, session=session) if c.state == "running"]
        if not running:
            return time.monotonic() - began
        time.sleep(0.05)
    return None


def test_killed_harness_takes_its_box_along(engine, harness):
    """Within five seconds of kill -9 no container of the session runs."""
    child, session = harness
    assert [c.state for c in find_containers(engine, session=session)] == ["running"]

    os.kill(child.pid, signal.SIGKILL)
    took = seconds_until_gone(engine, session, 5.0)
    print("gone after", took)

    assert took is not None


def test_stopped_harness_loses_its_box(engine, harness):
    """A harness that is stopped cannot watch its box, so the box ends by its silence."""
    child, session = harness
    assert [c.state for c in find_containers(engine, session=session)] == ["running"]

    os.kill(child.pid, signal.SIGSTOP)
    took = seconds_until_gone(engine, session, 8.0)
    print("gone after", took)

    assert took is not None
