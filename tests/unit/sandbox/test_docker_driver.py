import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from orchestrator.engine.client import Engine
from orchestrator.engine.containers import create_container, find_containers, remove_container
from orchestrator.engine.labels import owner_label
from orchestrator.errors import BoxError, EngineError
from orchestrator.sandbox.container_spec import Ground, container_options
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.mount import Mount
from tests.support.boxes import small_spec

pytestmark = pytest.mark.docker


@pytest.fixture
def lifecycle(engine, runtime_directory):
    return lambda: DockerLifecycle(engine, runtime=runtime_directory)


def test_engine_confirms_what_was_asked(stage):
    """The container as the engine knows it has the hardening, and no secret."""

    async def scene(scene):
        return scene.container()

    found = stage.play(scene)
    host = found["HostConfig"]

    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert [word.split("=")[0] for word in host["SecurityOpt"]] == ["no-new-privileges", "seccomp"]
    assert sorted(name.removeprefix("CAP_") for name in host["CapAdd"]) == [
        "KILL",
        "SETGID",
        "SETUID",
    ]
    assert not any("sock" in mount["Source"] for mount in found["Mounts"])
    assert found["Config"]["Image"].startswith("sha256:")


NETWORK = r"""
cat /etc/hosts /etc/resolv.conf | grep -v ip6-
cat /proc/net/if_inet6; grep -c . /proc/net/route; ls /sys/class/net
python3 -m http.server 80 --bind 127.0.0.1 --directory /etc/alternatives 2>/dev/null & trap "kill $!" EXIT
for i in $(seq 100); do curl -sf -o /dev/null http://localhost/ && break; sleep 0.1; done
curl -sf -o /dev/null http://localhost/ && echo served
curl -s --connect-timeout 2 http://192.0.2.1/ || echo no way
touch /etc/hosts 2>/dev/null || echo fixed
"""


@pytest.mark.parametrize("joined", [False, True])
def test_network_is_its_own_loopback_whoever_made_it(stage, joined):
    """The runtime's and the engine's are alike: names, loopback, low ports, no IPv6, no way out."""

    async def scene(scene):
        return scene.container(), await scene.output(NETWORK)

    found, text = stage.play(scene, joined=joined)

    assert found["Config"].get("NetworkDisabled", False) is not joined
    assert text == ("127.0.0.1\tlocalhost\nnameserver 127.0.0.1\n1\nlo\nserved\nno way\nfixed\n")


def test_every_control_holds(stage):
    """The posture of an ordinary box has all that does not hang on what is installed here."""
    posture = stage.play(lambda scene: scene.box.probe())

    lacking = {name for name, holds in posture.controls.items() if not holds}
    assert lacking - {"runtime_not_known_bad", "gvisor"} == set(), posture.found
    assert posture.controls["runtime_not_known_bad"] == (posture.facts["known_flaws"] == "")
    assert posture.facts["transport"] == "socket"
    assert posture.facts["image_digest"].startswith("sha256:")


def test_missing_control_is_seen(stage):
    """A root that can be written is told, not assumed away."""
    posture = stage.play(lambda scene: scene.box.probe(), read_only_root=False)

    assert posture.controls["read_only_root"] is False


@dataclass(frozen=True)
class Restarted(Engine):
    """The real engine, which once said that it is on another machine."""

    told: list[bool] = field(default_factory=list)

    def info(self):
        self.told.append(not self.told)
        return replace(super().info(), local=not self.told[-1])


def test_box_is_made_for_the_engine_as_it_is_now(engine, runtime_directory, sandbox_image):
    """What it said last time only saves time: where that holds no more, the box is made anew."""
    other = Restarted(engine.api, engine.url, engine.same_machine)
    spec = small_spec(sandbox_image)

    async def scene():
        lifecycle = DockerLifecycle(other, runtime=runtime_directory)
        await lifecycle.reap()
        try:
            box = await lifecycle.start(spec)
            return await box.probe(), find_containers(engine, session=spec.session)
        finally:
            await lifecycle.stop(spec.session)

    posture, found = anyio.run(scene)

    assert other.told == [True, False]
    assert posture.facts["transport"] == "socket"
    assert len(found) == 1


def nothing_left(engine, spec):
    return find_containers(engine, session=spec.session) == []


def test_nothing_is_left_after_the_session(stage, runtime_directory):
    """Neither a container nor a socket."""

    async def scene(scene):
        assert list(runtime_directory.iterdir()) == []
        return scene.spec

    spec = stage.play(scene)

    assert nothing_left(stage.engine, spec)


def test_missing_image_is_an_engine_error(lifecycle, engine):
    """With the command that makes it."""
    spec = small_spec("glovebox/sandbox:missing")

    with pytest.raises(EngineError, match="does not have it") as caught:
        anyio.run(lambda: lifecycle().start(spec))

    assert "image build" in caught.value.hint
    assert nothing_left(engine, spec)


def test_image_without_a_tool_server_is_a_box_error(lifecycle, engine):
    """Promptly, with the reason, and nothing stays."""
    spec = small_spec("glovebox/base:bookworm")

    with pytest.raises((BoxError, EngineError)):
        anyio.run(lambda: lifecycle().start(spec))

    assert nothing_left(engine, spec)


def test_mount_that_is_missing_fails_the_start_and_leaves_nothing(lifecycle, engine, sandbox_image):
    """The engine's reason is passed on."""
    mounts = (Mount("bind", "/nowhere/to/be/found", "/workspace"),)
    spec = small_spec(sandbox_image, mounts=mounts)

    with pytest.raises(EngineError, match="nowhere"):
        anyio.run(lambda: lifecycle().start(spec))

    assert nothing_left(engine, spec)


def test_cancelled_start_leaves_nothing(lifecycle, engine, sandbox_image):
    """Whoever gives up during the start has no box running."""
    spec = small_spec(sandbox_image)

    async def scene():
        with anyio.move_on_after(0.1):
            await lifecycle().start(spec)

    anyio.run(scene)

    assert nothing_left(engine, spec)


def test_killed_container_fails_the_call_at_once(stage):
    """A box that vanishes is told, not waited for."""

    async def scene(scene):
        began = time.monotonic()
        async with anyio.create_task_group() as group:

            async def kill():
                await anyio.sleep(0.3)
                identity = scene.container()["Id"]
                await anyio.to_thread.run_sync(lambda: scene.engine.api.kill(identity))

            group.start_soon(kill)
            with pytest.raises(BoxError):
                await scene.run("sleep 60", 60.0)
        return time.monotonic() - began

    assert stage.play(scene) < 5


def test_box_of_another_process_can_be_stopped(stage, lifecycle):
    """``glovebox kill`` ends a session that it did not start."""

    async def scene(scene):
        await lifecycle().stop(scene.spec.session)
        with pytest.raises(BoxError):
            await scene.run("true")
        return scene.spec

    assert nothing_left(stage.engine, stage.play(scene))


def left_by(engine, image, owner):
    """Create a box that is never started, as a killed harness leaves it."""
    spec = small_spec(image)
    options = container_options(spec, Ground(owner, "{}", None))
    options["HostConfig"]["SecurityOpt"] = ["no-new-privileges"]
    create_container(engine, f"glovebox-{spec.session}", options)
    return spec


def test_reap_removes_what_the_dead_left_and_nothing_else(lifecycle, engine, sandbox_image):
    """A living owner's box stays, a dead owner's goes."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        dead = left_by(engine, sandbox_image, owner_label(child.pid))
        child.stdin.close()
        child.wait()
    alive = left_by(engine, sandbox_image, owner_label())
    try:
        reaped = anyio.run(lambda: lifecycle().reap())

        assert dead.session in reaped
        assert alive.session not in reaped
        assert nothing_left(engine, dead)
        assert not nothing_left(engine, alive)
    finally:
        for container in find_containers(engine, session=alive.session):
            remove_container(engine, container.id)


def test_box_on_a_volume_works(engine, stage):
    """The usual workspace is a volume of the engine."""
    name = f"glovebox-test-{small_spec('x').session}"
    engine.api.create_volume(name)
    try:
        text = stage.output("id -u; pwd", mounts=(Mount("volume", name, "/workspace"),))
    finally:
        engine.api.remove_volume(name)

    assert text == "1000\n/workspace\n"


def test_ended_box_is_told_before_the_engine_has_removed_it(stage):
    """What it wrote can be read at once: no process of it is left, however it hid."""

    async def scene(scene):
        await scene.run("setsid sh -c 'while :; do date > ticks; done' & disown; sleep 0.5")
        container = scene.container()["Id"]
        await scene.lifecycle.stop(scene.spec.session, gone=False)
        left = processes_of(container)
        await scene.lifecycle.stop(scene.spec.session)
        return left, scene.spec

    left, spec = stage.play(scene)

    # The server itself, and the init that waits for it, may be about to go.
    assert left <= {"docker-init", "ld.so"}
    assert nothing_left(stage.engine, spec)


def processes_of(container):
    """Return the names of a container's processes, by the control groups that anybody may read."""
    found = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and container in (entry / "cgroup").read_text():
                found.add((entry / "comm").read_text().strip())
    return found


def test_box_that_does_not_end_by_itself_is_removed(stage):
    """A frozen server gives no word of its end; then the engine has to remove it."""

    async def scene(scene):
        scene.engine.api.pause(scene.container()["Id"])
        await scene.lifecycle.stop(scene.spec.session, gone=False)
        assert nothing_left(stage.engine, scene.spec)

    stage.play(scene)


FROZEN_S = 6.0
"""Longer than a box that could hear would wait for its host."""


def test_box_that_was_frozen_answers_again(stage):
    """It could not hear its host meanwhile, so that was no silence of the host."""

    async def scene(scene):
        container = scene.container()["Id"]
        started = await scene.output("sleep 60 >/dev/null 2>&1 & echo $!")
        for _ in range(2):
            scene.engine.api.pause(container)
            await anyio.sleep(FROZEN_S)
            scene.engine.api.unpause(container)
            assert await scene.output("echo here") == "here\n"
        return await scene.output(f"kill -0 {started.strip()} && echo runs")

    assert stage.play(scene) == "runs\n"
