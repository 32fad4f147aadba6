"""A running box changes hands: nothing of it is lost, and its new owner is its only one."""

import gc
import os
import time
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from orchestrator.engine.containers import find_containers
from orchestrator.engine.lease import Lease
from orchestrator.errors import BoxError
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.way_conformance import LEAVE, Echo
from orchestrator.schema.request import ExecRequest
from orchestrator.schema.way_out import WayOut
from tests.support.boxes import small_spec

TOLD = "echo $HTTPS_PROXY"

pytestmark = pytest.mark.docker


def order(command):
    return ExecRequest(command, "/workspace", 30.0)


def said(outcome):
    assert outcome.error is None, outcome
    return outcome.data["head"]


@pytest.fixture
def pair(engine, runtime_directory):
    return tuple(DockerLifecycle(engine, runtime=runtime_directory) for _ in range(2))


def handed_over(pair, spec, after):
    """Start a box, use it, hand it over, and play what the second owner does."""

    async def whole():
        first, second = pair
        try:
            box = await first.start(spec)
            said(await box.execute(order("echo one > /workspace/a")))
            handed = await first.hand_over(spec.session)
            assert handed is not None
            with pytest.raises(BoxError, match="handed over"):
                await box.execute(order("true"))
            return await after(second.take_over(spec, handed))
        finally:
            await second.stop(spec.session)
            assert find_containers(second._engine, session=spec.session) == []

    return anyio.run(whole)


def test_box_goes_on_under_its_new_owner(pair, sandbox_image):
    """What is in it is still there, and it heeds calls, cancelling and the end."""

    async def after(box):
        text = said(await box.execute(order("cat a; id -u")))
        with anyio.move_on_after(0.3):
            await box.execute(order("sleep 60"))
        assert said(await box.execute(order("pgrep -c sleep || true"))) == "0\n"
        return text

    assert handed_over(pair, small_spec(sandbox_image), after) == "one\n1000\n"


def test_new_owner_is_heard(pair, sandbox_image):
    """The box lives by the second one's heartbeat, long after the first one's."""

    async def after(box):
        gc.collect()
        await anyio.sleep(6)
        return said(await box.execute(order("echo alive")))

    assert handed_over(pair, small_spec(sandbox_image), after) == "alive\n"


def test_new_owner_lets_out(pair, sandbox_image):
    """A box from the pool has a way out as any other; commands of it are told."""

    async def after(box):
        async with box.let_out(WayOut(""), Echo()):
            return said(await box.execute(order(LEAVE))), said(await box.execute(order(TOLD)))

    heard, told = handed_over(pair, small_spec(sandbox_image), after)

    assert (heard, told) == ("heard hello\n", "http://127.0.0.1:3128\n")


def test_box_that_was_let_out_of_stays_with_its_owner(pair, sandbox_image):
    """What it still has to say of its connections nobody else would understand."""

    async def whole():
        first, _ = pair
        spec = small_spec(sandbox_image)
        box = await first.start(spec)
        async with box.let_out(WayOut(""), Echo()):
            pass
        assert await first.hand_over(spec.session) is None

    anyio.run(whole)


def test_first_owner_keeps_nothing_open(pair, sandbox_image):
    """A descriptor that stayed would keep the box alive when its new owner dies."""

    async def whole():
        first, _ = pair
        spec = small_spec(sandbox_image)
        await first.start(spec)
        handed = await first.hand_over(spec.session)
        gc.collect()
        counts = [copies(sock) for sock in (handed.held.lifeline, handed.held.calls)]
        handed.held.close()
        await first.stop(spec.session)
        return counts

    assert anyio.run(whole) == [1, 1]


def copies(sock):
    """Return how many descriptors of this process lead to the socket."""
    name = f"socket:[{os.fstat(sock.fileno()).st_ino}]"
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found += str(entry.readlink()) == name
    return found


def test_box_between_two_calls_alone_changes_hands(pair, sandbox_image):
    """With a call under way it is ended instead: half an answer is nobody's."""

    async def whole():
        first, _ = pair
        spec = small_spec(sandbox_image)
        box = await first.start(spec)
        async with anyio.create_task_group() as group:

            async def call():
                with pytest.raises(BoxError):
                    await box.execute(order("sleep 60"))

            group.start_soon(call)
            await anyio.sleep(0.3)
            assert await first.hand_over(spec.session) is None
        assert find_containers(first._engine, session=spec.session) == []

    anyio.run(whole)


def test_leased_box_is_reaped_when_its_lease_ends(pair, sandbox_image, tmp_path):
    """Not when the process ends that started it."""

    async def whole():
        first, second = pair
        lease = Lease.take(tmp_path / "lease")
        spec = small_spec(sandbox_image, owner=lease.label)
        try:
            await first.start(spec)
            assert spec.session not in await second.reap()
            lease.close()
            return await second.reap(), spec
        finally:
            await first.stop(spec.session)

    reaped, spec = anyio.run(whole)

    assert spec.session in reaped


def test_box_without_anybody_ends_itself(pair, sandbox_image):
    """Connections that nobody received are closed by the kernel."""

    async def whole():
        first, _ = pair
        spec = small_spec(sandbox_image)
        await first.start(spec)
        handed = await first.hand_over(spec.session)
        handed.held.close()
        deadline = time.monotonic() + 10
        while find_containers(first._engine, session=spec.session):
            assert time.monotonic() < deadline
            await anyio.sleep(0.05)

    anyio.run(whole)
