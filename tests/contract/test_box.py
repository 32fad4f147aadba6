"""The real box and the scripted one keep the same contract."""

import anyio
import pytest

from orchestrator.sandbox.conformance import CHECKS, COMMANDS, Subject
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.scripted import ScriptedLifecycle
from tests.support.boxes import small_spec

each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


async def examine(lifecycle, spec, check):
    try:
        await check(Subject(lifecycle, spec, await lifecycle.start(spec)))
    finally:
        await lifecycle.stop(spec.session)


@each_check
def test_scripted_box_keeps_the_contract(check):
    """Tests against the scripted box mean something for the real one."""
    anyio.run(examine, ScriptedLifecycle(commands=COMMANDS), small_spec("scripted"), check)


@pytest.mark.docker
@pytest.mark.parametrize("sockets", [True, False], ids=["socket", "stdio"])
@each_check
def test_real_box_keeps_the_contract(check, sockets, engine, sandbox_image, runtime_directory):
    """The box does what its Protocols promise, whatever carries the calls."""

    async def scene():
        lifecycle = DockerLifecycle(engine, runtime=runtime_directory, sockets=sockets)
        await examine(lifecycle, small_spec(sandbox_image), check)

    anyio.run(scene)
