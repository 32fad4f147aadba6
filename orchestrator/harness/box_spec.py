"""From policy and workspace to the box that is asked for: pure data in, pure data out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.errors import PostureError
from orchestrator.harness.options import LimitOptions
from orchestrator.loop.limits import Limits
from orchestrator.policy.effective import EffectivePolicy, LimitSettings
from orchestrator.sandbox.driver import BoxLimits, BoxSpec
from orchestrator.sandbox.service_spec import ServiceSpec
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.posture import CONTROLS, Posture
from orchestrator.schema.terminal_text import escape_terminal

WORKDIR = "/workspace"


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose files the box works on."""

    uid: int
    gid: int
    mounts: tuple[Mount, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables for commands, beside the image's and the box's own."""


def box_spec(
    policy: EffectivePolicy,
    tenant: Tenant,
    *,
    session: SessionId,
    image: str,
    files: int = BoxLimits().files,
) -> BoxSpec:
    """Return the box that policy allows for this workspace, where ``files`` names may change."""
    sandbox = policy.sandbox
    return BoxSpec(
        session=session,
        image=image,
        uid=tenant.uid,
        gid=tenant.gid,
        workdir=WORKDIR,
        mounts=tenant.mounts,
        tmpfs=dict(sandbox.tmpfs),
        limits=BoxLimits(
            cpus=sandbox.cpus,
            memory=sandbox.memory,
            pids=sandbox.pids,
            disk=sandbox.disk,
            files=files,
            file_size=sandbox.file_size,
        ),
        runtime=sandbox.runtime,
        joined=bool(policy.services),
        read_only_root=sandbox.read_only_root,
        exec_record=sandbox.exec_record,
        read_roots=policy.read_roots,
        environment=dict(tenant.environment),
    )


def service_specs(policy: EffectivePolicy) -> tuple[ServiceSpec, ...]:
    """Return the services that policy puts beside the box."""
    return tuple(
        ServiceSpec(
            name=name,
            image=service.image,
            port=service.port,
            command=service.command,
            environment=service.environment,
            within_s=service.within,
            memory=service.memory,
            pids=service.pids,
        )
        for name, service in policy.services.items()
    )


def require_posture(policy: EffectivePolicy, posture: Posture) -> None:
    """Raise PostureError, with a row for each, where the box lacks what policy requires."""
    missing = [name for name in policy.sandbox.require if not posture.controls.get(name, False)]
    if missing:
        rows = [posture_row(name, posture) for name in missing]
        raise PostureError(
            f"the box lacks {len(missing)} of the {len(policy.sandbox.require)} controls that "
            f"policy {policy.name} requires:\n" + "\n".join(rows),
            hint="mend it, or choose a policy whose sandbox.require asks for less; "
            "glovebox doctor shows every control of this engine",
        )


def posture_row(name: str, posture: Posture) -> str:
    """Return what was required, what was found and how to mend it, over three lines."""
    control = CONTROLS[name]
    found = escape_terminal(posture.found.get(name, "not looked at"))
    return f"  {name}: {control.required}\n    found: {found}\n    mend:  {control.mend}"


def run_limits(policy: LimitSettings, asked: LimitOptions) -> Limits:
    """Return the limits of a run: the policy's, lowered by flags, never raised.

    Tokens and money of flags count from when the session was opened, so they stand apart.
    """
    return Limits(
        steps=_least(policy.steps, asked.steps),
        tokens=policy.tokens,
        cost_usd=policy.cost_usd,
        cost_usd_per_day=policy.cost_usd_per_day,
        asked_tokens=asked.tokens,
        asked_cost_usd=asked.cost_usd,
        asked_used_tokens=asked.used_tokens,
        asked_used_cost_usd=asked.used_cost_usd,
        wall_time_s=_lowest(policy.wall_time, asked.wall_time_s),
        tool_calls_per_minute=policy.tool_calls_per_minute,
        repeat=policy.repeat or 0,
    )


def _least(first: int | None, second: int | None) -> int | None:
    given = [value for value in (first, second) if value is not None]
    return min(given) if given else None


def _lowest(first: float | None, second: float | None) -> float | None:
    lowest = min(math.inf if value is None else value for value in (first, second))
    return None if math.isinf(lowest) else lowest
