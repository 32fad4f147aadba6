"""A session's own box and one that waits are raised by the same steps."""

import os
import secrets
from contextlib import closing

import anyio
import pytest

from orchestrator.engine.client import connect
from orchestrator.engine.containers import find_containers
from orchestrator.engine.labels import owner_label
from orchestrator.engine.lease import Lease
from orchestrator.harness.governing import policy_of
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.raising import Raising
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.ids import SessionId

pytestmark = pytest.mark.docker
SESSION = SessionId(secrets.token_hex(6))


@pytest.mark.parametrize("leased", [False, True])
def test_box_is_proved_and_has_its_owner(options, paths, tmp_path, *, leased):
    """The posture names the image that was asked for, and the engine whose the box is."""
    run = options()
    # A real one, since whoever sweeps this engine meanwhile removes what belongs to the dead.
    lease = Lease.take(tmp_path / "lease")
    owner = lease.label if leased else None

    async def whole():
        with closing(connect(environ=os.environ)) as engine:
            lifecycle = DockerLifecycle(engine)
            plan = RoomPlan(run, policy_of(run, paths), SESSION)
            raising = Raising(plan, paths, engine, lifecycle, pytest.fail)
            workspace, prepared = await raising.prepare(warm=owner is not None)
            try:
                _, posture = await raising.start(prepared, owner=owner)
                [found] = find_containers(engine, session=SESSION)
            finally:
                await lifecycle.stop(SESSION)
            return workspace.site.record.warm, posture, found.owner

    with closing(lease):
        warm, posture, found = anyio.run(whole)

    assert warm == (owner is not None)
    assert found == (owner or owner_label())
    assert posture.facts["named_image"].startswith("glovebox/sandbox:")
    assert posture.controls["no_network"]
