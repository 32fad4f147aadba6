"""What the engine tells of a box and of itself: plain facts for the posture and the audit."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from orchestrator.engine.changelogs import read_changelogs
from orchestrator.engine.facts import EngineInfo
from orchestrator.engine.known_bad import judge_components, summary
from orchestrator.sandbox.container_spec import ImageConfig
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.sandbox.hello import Ready
from orchestrator.schema.ids import Digest

HOST_KERNEL = "host_kernel"
HOST_NAMESPACES = "host_namespaces"
"""Only told by an engine of this machine; for comparison, not for the audit."""
VOLUMES = "image_volumes"
"""What the image declares, one a line; the box has them read-only."""
UNRECORDED = (HOST_NAMESPACES, VOLUMES)
HOST_LIMIT = "host_limit_"
"""Begins the name of each limit that the host's kernel holds, where it could be read there."""
FLAWS = "known_flaws"
"""Empty where versions were judged and none is known to be bad."""


def told_by(ready: Ready) -> dict[str, str]:
    """Return what a box's server said of how it is called."""
    told: dict[str, str] = {"transport": ready.transport}
    return told | {"transport_problem": ready.problem} if ready.problem else told


def told_of(
    info: EngineInfo, spec: BoxSpec, *, digest: Digest, image: ImageConfig
) -> dict[str, str]:
    """Return the facts about one box, before anything is asked inside; reads files of the host."""
    runtime = runtime_of(info, spec)
    facts = {
        "engine": f"{info.name} {info.server_version}",
        "runtime": runtime,
        "image": spec.image,
        "image_digest": digest,
        HOST_KERNEL: info.kernel,
        "cgroup": f"v{info.cgroup_version or '?'} {info.cgroup_driver or 'none'}",
        "root_is": "a plain user of the host" if info.user_namespace else "root of the host",
        FLAWS: known_flaws(info, runtime),
        VOLUMES: "\n".join(posixpath.normpath("/" + path.strip("/")) for path in image.volumes),
    }
    facts |= {name: info.components[name] for name in _PARTS if info.components.get(name)}
    if info.local:
        facts[HOST_NAMESPACES] = _own_namespaces()
    return facts


def runtime_of(info: EngineInfo, spec: BoxSpec) -> str:
    """Return the name of the runtime that the box gets."""
    return spec.runtime or info.default_runtime


def shows_limits(info: EngineInfo, spec: BoxSpec) -> bool:
    """True where the box itself can see its limits: under the host's own kernel."""
    return runtime_of(info, spec) in _PLAIN_RUNTIMES


def host_limits(limits: Mapping[str, float]) -> dict[str, str]:
    """Return limits read on the host as facts."""
    return {f"{HOST_LIMIT}{name}": str(value) for name, value in limits.items()}


def known_flaws(info: EngineInfo, runtime: str) -> str:
    """Return the flaws that the engine's runtime and containerd have or may have, in one line."""
    changelogs = read_changelogs(info.components) if info.local else {}
    return summary(judge_components(info.components, changelogs, runtime=runtime))


_PLAIN_RUNTIMES = frozenset({"runc", "crun", "io.containerd.runc.v2"})
_PARTS = ("runc", "crun", "containerd")


def _own_namespaces() -> str:
    found = []
    for name in ("pid", "ipc", "uts", "net", "mnt", "cgroup"):
        with suppress(OSError):
            found.append(str(Path(f"/proc/self/ns/{name}").readlink()))
    return " ".join(found)
