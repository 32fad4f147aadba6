"""The warm pool as a user has it: a process of its own, and sessions that take boxes from it."""

import json
import os
import signal
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
import yaml

from orchestrator.engine.client import connect
from orchestrator.engine.containers import find_containers
from orchestrator.sandbox.runtime_dir import runtime_root
from tests.support.world import bash

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("image")]

DONE = {"text": "done"}
KEYS = {"ANTHROPIC_API_KEY": "sk-planted-0123456789abcdef", "OPENAI_API_KEY": "sk-planted-2"}


@pytest.fixture
def world(world):
    yield world
    world.run("pool", "stop", str(world.project))


@pytest.fixture(scope="module")
def engine():
    with closing(connect()) as found:
        yield found


def status(world):
    """Return this world's pools: others may run on the machine."""
    found = json.loads(world.run("pool", "status", "--json").out)["pools"]
    return [pool for pool in found if pool["directory"] == str(world.project)]


def until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


def start_of(ended):
    assert ended.code == 0, ended.err
    [event] = ended.of("session_start")
    return event["posture"]["facts"]["start"], event["session"]


def ready(world):
    return [session for pool in status(world) for session in pool["ready"]]


def configure(world, **settings):
    path = world.root / "config/config.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(settings))


def files_of(pool):
    """Return what a pool has beside its boxes; a world has no runtime directory of its own."""
    return sorted((runtime_root({}, os.geteuid()) / "pool").glob(f"{pool['pool']}.*"))


def test_second_session_of_a_project_starts_warm(world, engine):
    """The first one begins the pool; no key of its environment goes along; stop ends all of it."""
    configure(world, pool={"size": 1, "idle": "5m"})
    run = ("run", "-m", world.script(bash("cat notes.txt; echo x > made"), DONE), "--json", "go")

    first, _ = start_of(world.run(*run, env=KEYS))
    [waiting] = until(lambda: ready(world))
    [pool] = status(world)
    environment = Path(f"/proc/{pool['pid']}/environ").read_bytes()
    (world.project / "notes.txt").write_text("changed while the box waited\n")
    ended = world.run(*run, env=KEYS)
    second, session = start_of(ended)
    [end] = ended.of("tool_end")
    until(lambda: ready(world))

    assert first == "cold (no pool runs)"
    assert second == "warm"
    assert session == waiting
    assert b"GLOVEBOX_STATE=" in environment
    assert not any(value.encode() in environment for value in KEYS.values())
    assert "changed while the box waited" in end["output"]
    assert "made" in world.run("diff", session).out
    assert world.run("pool", "stop", str(world.project)).code == 0
    assert status(world) == []
    until(lambda: not Path(f"/proc/{pool['pid']}").exists())
    assert sorted(path.name for path in (world.state / "work").iterdir()) == sorted(
        path.stem for path in (world.state / "audit").glob("*.jsonl")
    )
    mine = {path.name for path in (world.state / "work").iterdir()}
    assert not mine & {box.session for box in find_containers(engine)}


def test_warm_box_of_another_policy_is_not_used(world):
    """A stricter run gets a box of its own."""
    assert world.run("pool", "warm", str(world.project)).code == 0

    start, _ = start_of(
        world.run("run", "-m", world.script(DONE), "--policy", "strict", "--json", "go")
    )

    assert start.startswith("cold")
    assert len(ready(world)) == 1


def test_killed_pool_leaves_nothing_after_a_sweep(world, engine):
    """Its boxes end by themselves, its sessions go on, and gc removes what it had prepared."""
    assert world.run("pool", "warm", str(world.project)).code == 0
    [pool] = status(world)
    [waiting] = ready(world)
    assert {path.suffix for path in files_of(pool)} == {".lock", ".log", ".json", ".sock"}

    os.kill(pool["pid"], signal.SIGKILL)
    until(lambda: not find_containers(engine, session=waiting))
    for path in files_of(pool):
        os.utime(path, (0, 0))
    swept = world.run("gc")

    assert (swept.code, f"prepared as {waiting}" in swept.out) == (0, True)
    # Any other sweep of this user may have been first.
    assert files_of(pool) == []
    assert "nothing to remove" not in swept.err
    assert not (world.state / "work" / waiting).exists()
    start, _ = start_of(world.run("run", "-m", world.script(DONE), "--json", "go"))
    assert start == "cold (no pool runs)"


def test_killed_session_leaves_no_warm_box(world, engine):
    """The pool, which made the box, lives on: it is the taker whose end counts."""
    assert world.run("pool", "warm", str(world.project)).code == 0
    [waiting] = ready(world)
    script = world.script(bash("echo x > made; sleep 60"), DONE)
    taker = world.start("run", "-m", script, "--json", "go")
    try:
        for line in taker.stdout:
            if json.loads(line)["type"] == "tool_start":
                break
        until((world.state / "work" / waiting / "upper/made").exists)
    finally:
        taker.kill()
        taker.communicate()

    until(lambda: not find_containers(engine, session=waiting))
    assert world.run("gc").code == 0
    assert "made" in world.run("diff", waiting).out
    until(lambda: ready(world))


def test_waiting_box_is_listed_apart_from_sessions(world):
    """It is nobody's session yet; gc leaves it and its living pool alone."""
    assert world.run("pool", "warm", str(world.project)).code == 0
    [waiting] = ready(world)

    listed = json.loads(world.run("ps", "--json").out)
    _, _, apart = world.run("ps").out.partition("waiting in warm pools")
    assert world.run("gc").code == 0

    assert waiting in [box["session"] for box in listed["waiting"]]
    assert waiting not in [box["session"] for box in listed["boxes"]]
    assert waiting in apart
    assert ready(world) == [waiting]


def test_idle_pool_ends_by_itself(world):
    """Nobody has to remember it."""
    configure(world, pool={"size": 1, "idle": "3s"})
    assert world.run("pool", "warm", str(world.project)).code == 0

    until(lambda: not status(world))

    until(lambda: not list((world.state / "work").iterdir()))


def test_pool_that_cannot_be_says_why(world):
    """A copy of the files would be an old one."""
    configure(world, workspace="copy")

    ended = world.run("pool", "warm", str(world.project))

    assert ended.code == 5
    assert "cannot wait" in ended.err + ended.out
    with suppress(FileNotFoundError):
        assert list((world.state / "work").iterdir()) == []


def test_missing_pool_is_no_error(world):
    """Stopping twice is as good as once."""
    ended = world.run("pool", "stop", str(world.project))

    assert (ended.code, ended.err) == (0, "no pool runs\n")


def test_name_that_is_no_pools_is_refused(world):
    """It becomes a file's name."""
    assert world.run("pool", "serve", "../x").code == 2
    assert world.run("pool", "serve", "0123456789abcdef").code == 7


def test_directory_that_is_no_project_is_a_usage_error(world):
    """Told at once and by the name it was given under; no pool is started for it."""
    system = world.run("pool", "warm", "/etc")
    missing = world.run("pool", "warm", "nowhere")

    assert (system.code, missing.code) == (2, 2)
    assert system.err.startswith("glovebox: pool warm /etc: it is a directory of the system")
    assert missing.err.startswith("glovebox: pool warm nowhere: expected a directory")
    known = json.loads(world.run("pool", "status", "--json").out)["pools"]
    assert "/etc" not in [pool["directory"] for pool in known]
