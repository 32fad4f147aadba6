"""What a session's room is made from, the same for a room made on the spot and for a warm one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from orchestrator.config.assets import asset
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.labels import OWNER, owner_label
from orchestrator.errors import ConfigError
from orchestrator.harness.box_spec import Tenant, box_spec
from orchestrator.harness.options import RunOptions
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.node import Limits, WorkspaceMode
from orchestrator.workspace.workspace import WorkspaceSpec

NOT_READ_BACK = 10
"""How many times more files may be made where none has to be read back."""


@dataclass(frozen=True)
class RoomPlan:
    """One session's; equal options and policies make equal rooms."""

    options: RunOptions
    policy: EffectivePolicy
    session: SessionId

    @cached_property
    def image(self) -> str:
        """Name of the box's image; our own is named by its sources, which are read once for it."""
        named = self.options.image or self.policy.sandbox.image
        return named or sandbox_image_name(asset("sandbox-image"))

    @property
    def mode(self) -> WorkspaceMode:
        """The flag's where policy lets it choose, else policy's; ConfigError where it does not."""
        asked, allowed = self.options.workspace, self.policy.workspace.modes
        if asked is None:
            return self.policy.workspace.mode
        if asked not in allowed:
            raise ConfigError(
                f"--workspace {asked}: policy {self.policy.name} allows {', '.join(allowed)}",
                hint="workspace.modes of the policy decides",
            )
        return asked

    def workspace(self, *, warm: bool = False) -> WorkspaceSpec:
        """Return the workspace to ask for."""
        return WorkspaceSpec(
            session=self.session,
            directory=self.options.directory,
            mode=self.mode,
            image=self.image,
            protected=self.policy.workspace.protected,
            hidden=self.policy.workspace.hidden,
            disk_bytes=self.policy.sandbox.disk,
            runtime=self.policy.sandbox.runtime,
            labels={OWNER: owner_label()},
            warm=warm,
        )

    def box(self, tenant: Tenant, *, image: str) -> BoxSpec:
        """Return the box to ask for, on what was prepared; ``image`` is what was made of its own."""
        entries = Limits().entries
        read_back = self.mode in {"overlay", "copy"}
        files = entries * 9 // 10 if read_back else entries * NOT_READ_BACK
        return box_spec(self.policy, tenant, session=self.session, image=image, files=files)
