"""An engine that is restarted, or dies, under a session: its end, what is left, and how it goes on."""

import gc
import json
import os
import signal
import tempfile
from pathlib import Path

import docker
import pytest

from tests.support.second_engine import second_engine
from tests.support.workspaces import give
from tests.support.world import bash

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0, reason="an engine of one's own needs root"),
    pytest.mark.timeout(300),
    # The SDK's own: a socket whose connecting failed is left to the collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture(scope="module")
def own_engine(image):
    """An engine that only these tests use."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        root = Path(folder) / "engine"
        root.mkdir()
        with second_engine(root) as engine:
            engine.load(image)
            yield engine


def boxes(engine, session):
    client = docker.DockerClient(engine.url)
    try:
        label = f"glovebox.session={session}"
        return client.api.containers(all=True, filters={"label": label})
    finally:
        client.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_session_ends_in_order_and_goes_on_afterwards(world, own_engine, number):
    """What it had changed is read, the end says why, gc finds the rest."""
    # A directory of root's would be copied, and a copy is the engine's.
    give(world.project)
    own = {"DOCKER_HOST": own_engine.url}
    script = world.script(bash("echo x > made"), bash("sleep 60"), {"text": "went on"})
    process = world.start("run", "go", "-m", script, "--json", env=own)
    events, struck = [], 0
    for line in process.stdout:
        events.append(json.loads(line))
        struck += events[-1]["type"] == "tool_start"
        if struck == 2 and own_engine.process is not None:
            own_engine.stop(number)
    error = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    code = process.wait(timeout=60)
    own_engine.start()
    gc.collect()

    last, session = events[-1], events[-1]["session"]
    changed = [
        row["path"] for event in events if event["type"] == "workspace" for row in event["changed"]
    ]
    assert (code, last["type"], last["status"], last["exit_code"]) == (
        5,
        "session_end",
        "failed",
        5,
    )
    assert changed == ["made"]
    assert "engine went away" in str([event for event in events if event["type"] == "error"])
    assert f"box glovebox-{session}" in error
    assert "glovebox gc" in error

    assert world.run("gc", env=own).code == 0
    assert boxes(own_engine, session) == []
    assert world.run("audit", "verify", session, "--require-closed", env=own).code == 0
    again = world.run("run", "--resume", session, "-m", script, "--json", "--apply", env=own)
    assert (again.code, again.events[-1]["status"]) == (0, "done")
    assert (world.project / "made").read_text() == "x\n"
