"""The doctor's own box: started for a moment, asked what it really has, and gone."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio
from anyio import to_thread

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.errors import GloveboxError
from orchestrator.harness.box_spec import WORKDIR, Tenant, box_spec
from orchestrator.harness.images import layer_image
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.posture import Posture

_PLAIN_UID = 1000
_WORKSPACE = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class BoxFacts:
    """What a box had, or why none could be asked."""

    posture: Posture | None = None
    required: tuple[str, ...] = ()
    """What the policy in force for new sessions requires."""
    failure: str = ""
    hint: str = ""


async def look_into_box(
    paths: Paths, environ: Mapping[str, str], *, policies: Sequence[str]
) -> BoxFacts:
    """Start a box as a session under these policies would, with an empty workspace, and ask it."""
    try:
        policy = load_policy(
            policies,
            search=asset("policies"),
            user_file=paths.config / "policy.yaml",
            state=paths.state,
        )
        return BoxFacts(await _posture(policy, environ), policy.sandbox.require)
    except GloveboxError as err:
        return BoxFacts(failure=err.message, hint=err.hint)


async def _posture(policy: EffectivePolicy, environ: Mapping[str, str]) -> Posture:
    engine = await to_thread.run_sync(lambda: connect(environ=environ))
    lifecycle = DockerLifecycle(engine)
    session = SessionId(secrets.token_hex(6))
    try:
        image = policy.sandbox.image or sandbox_image_name(asset("sandbox-image"))
        tenant = Tenant(
            os.geteuid() or _PLAIN_UID,
            os.getegid() or _PLAIN_UID,
            (Mount("tmpfs", "", WORKDIR, size=_WORKSPACE),),
        )
        made = await to_thread.run_sync(
            lambda: layer_image(
                engine, image, ids=(tenant.uid, tenant.gid), note=lambda _line: None
            )
        )
        box = await lifecycle.start(box_spec(policy, tenant, session=session, image=made.name))
        return await box.probe()
    finally:
        with anyio.CancelScope(shield=True):
            await lifecycle.stop(session)
        engine.close()
