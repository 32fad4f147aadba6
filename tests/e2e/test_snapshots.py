"""Snapshots of a run that is killed: what was announced is there, the rest is as if never begun."""

import json
import signal

import pytest

from tests.support.workspaces import give
from tests.support.world import bash

pytestmark = pytest.mark.docker


def kill_run_at(world, step, model):
    """Run a session that dies at one of its effects on files; return the snapshots it announced."""
    order = ["run", "x", "-m", model, "--json"]
    died = world.run(str(step), *order, module="tests.support.killed_at")
    events = [json.loads(line) for line in died.out.splitlines() if line.endswith("}")]
    return died.code, [e for e in events if e["type"] == "snapshot"]


@pytest.mark.timeout(400)
def test_run_killed_at_any_step_keeps_every_announced_snapshot(world):
    """Each can be gone back to; nothing torn is left over, and the session goes on."""
    give(world.project)
    first, second = bash("for i in 1 2 3; do echo $i > f$i; done"), bash("echo more > more; rm f1")
    model = world.script(first, second, {"text": "done"}, {"text": "went on"})
    announced = 0
    for step in range(41, 400, 7):
        code, snapshots = kill_run_at(world, step, model)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        if not list(world.state.glob("audit/*.jsonl")):
            continue
        session = world.session()
        looked = world.run("rewind", session, "--list", "--json")
        kept = json.loads(looked.out)["snapshots"] if looked.code == 0 else []
        assert {s["number"] for s in snapshots} <= {item["number"] for item in kept}, step
        folder = world.state / "work" / session / "snapshots"
        assert not list(folder.glob("*.new")), step
        for snapshot in snapshots:
            announced += 1
            back = world.run("rewind", session, f"s{snapshot['number']}", "--files")
            assert back.code == 0, (step, back.err)
            changed = json.loads(world.run("diff", session, "--json").out)["changes"]
            wanted = {1: {"f1", "f2", "f3"}, 2: {"f2", "f3", "more"}}[snapshot["turn"]]
            assert {c["path"] for c in changed} == wanted, step
    assert announced > 0
