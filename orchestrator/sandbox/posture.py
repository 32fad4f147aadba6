"""From what the probe found inside to controls that hold: a control nobody saw is not there."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.sandbox.driver import BoxSpec
from orchestrator.sandbox.results import Findings
from orchestrator.schema.posture import Posture

_FILTERED = ("vsock", "raw_socket", "packet_socket", "user_namespace")
_CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")
_SECCOMP_FILTER = "2"


def posture_of(found: Findings, spec: BoxSpec, facts: Mapping[str, str]) -> Posture:
    """Return the controls that the findings prove for this box, with the plain facts."""
    limits = spec.limits
    return Posture(
        controls={
            "seccomp": found.status.get("Seccomp") == _SECCOMP_FILTER
            and all(found.refused.get(name, False) for name in _FILTERED),
            "no_new_privileges": found.status.get("NoNewPrivs") == "1",
            "no_network": found.interfaces == ["lo"] and found.routes == 0,
            "non_root": _runs_as(found, spec) and found.refused.get("root", False),
            "no_capabilities": all(_is_zero(found.status.get(name)) for name in _CAPABILITY_SETS),
            "pids_limit": _within(found.pids_limit, limits.pids),
            "memory_limit": _within(found.memory_limit, limits.memory),
            "read_only_root": "ro" in found.root_options.split(",") and not found.root_writes,
        },
        facts={
            **facts,
            "kernel": found.kernel,
            "uid": found.status.get("Uid", "").split("\t")[0],
            "pids_limit": str(found.pids_limit),
            "memory_limit": str(found.memory_limit),
        },
    )


def _runs_as(found: Findings, spec: BoxSpec) -> bool:
    """Real, effective, saved and file-system ids must all be the command's."""
    uids, gids = found.status.get("Uid", "").split(), found.status.get("Gid", "").split()
    return uids == [str(spec.uid)] * 4 and gids == [str(spec.gid)] * 4 and spec.uid != 0


def _is_zero(text: str | None) -> bool:
    return text is not None and text != "" and set(text) == {"0"}


def _within(found: int | None, wanted: int) -> bool:
    return found is not None and 0 < found <= wanted
