"""From a plan to a proved box, for a session's own room and for one that is to wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.beside import beside
from orchestrator.engine.client import Engine
from orchestrator.engine.layers import BoxImage
from orchestrator.harness.box_spec import require_posture
from orchestrator.harness.image_uses import note_use
from orchestrator.harness.images import box_image, with_source
from orchestrator.harness.luggage import Luggage
from orchestrator.harness.plan import RoomPlan
from orchestrator.sandbox.driver import Lifecycle, RunningBox
from orchestrator.schema.posture import Posture
from orchestrator.workspace.at_rest import note_writer
from orchestrator.workspace.opening import prepare_workspace
from orchestrator.workspace.workspace import Prepared, Workspace


@dataclass(frozen=True, slots=True)
class Raising:
    """One box on its way up; whoever raises it takes it down again, also when this fails."""

    plan: RoomPlan
    paths: Paths
    engine: Engine
    lifecycle: Lifecycle
    note: Callable[[str], None]

    async def prepare(self, *, warm: bool = False) -> tuple[Workspace, Prepared]:
        """Return the workspace, ready to be mounted; nothing is left of it on an error."""
        wanted = self.plan.workspace(warm=warm)
        return await to_thread.run_sync(
            lambda: prepare_workspace(wanted, paths=self.paths, engine=self.engine)
        )

    async def start(
        self, prepared: Prepared, *, owner: str | None = None
    ) -> tuple[RunningBox, Posture]:
        """Return the running box and what was proved of it; PostureError where that is too little.

        ``owner`` is the label of whose it is; None is this process.
        """
        plan = self.plan
        luggage = Luggage(
            plan.options, plan.policy, paths=self.paths, engine=self.engine, note=self.note
        )
        wanted = plan.workspace()
        ids = (prepared.uid, prepared.gid)

        def find_image() -> BoxImage:
            policy = plan.policy
            return box_image(self.engine, plan.image, policy=policy, ids=ids, note=self.note)

        async with beside(lambda: luggage.tenant(wanted, prepared)) as packing:
            image = await to_thread.run_sync(find_image)
            tenant = await packing
        spec = replace(plan.box(tenant, image=image.name), owner=owner)
        box = await self.lifecycle.start(spec)
        if prepared.mode == "copy":
            # Before the first command: what was read of the files until now no longer holds.
            await to_thread.run_sync(note_writer, self.paths.work(plan.session))
        note_use(self.paths, image.digest, image.of_digest)
        posture = with_source(await box.probe(), image)
        require_posture(plan.policy, posture)
        return box, posture
