"""What an engine says about itself, as frozen data; ``client`` asks, this parses."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_OCI_RUNTIME = re.compile(r"OCI Runtime \(([a-z]+)\)")
_FIRST_VERSION = re.compile(r"version:? *(\S+)")
_COMMIT_LINE = re.compile(r"commit: *(\S+)")


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """One engine's own account; what it claims is proved later, inside the box."""

    local: bool
    """True where host paths mean the same to the engine, so that they can be mounted."""
    api_version: str
    server_version: str
    operating_system: str
    kernel: str
    architecture: str
    cpus: int
    memory: int
    """Bytes."""
    storage_driver: str
    root_dir: str
    """Where the engine keeps images and containers, as a path of its own machine."""
    cgroup_driver: str
    cgroup_version: str
    """``1`` or ``2``; empty where the engine does not say."""
    limits: Mapping[str, bool]
    """``memory pids cpu``, each True where the engine claims that it can enforce it."""
    rootless: bool
    security_options: tuple[str, ...]
    """Names alone, such as ``seccomp`` and ``apparmor``."""
    runtimes: tuple[str, ...]
    default_runtime: str
    name: str = "docker"
    """``docker`` or ``podman``, whose API is nearly the same."""
    components: Mapping[str, str] = field(default_factory=dict)
    """``runc containerd …`` to the version of each, with the distribution's revision if told."""
    user_namespace: bool = False
    """True where the engine maps a container's root to a plain user of the host."""


def parse_info(
    info: Mapping[str, Any], version: Mapping[str, Any], *, same_machine: bool
) -> EngineInfo:
    """Return the facts in the engine's answers to ``info`` and ``version``."""
    options = tuple(_option_name(text) for text in info.get("SecurityOptions") or ())
    kernel = str(info.get("KernelVersion", ""))
    system = str(info.get("OperatingSystem", ""))
    return EngineInfo(
        # Docker Desktop forwards a local socket into a virtual machine.
        local=same_machine and kernel == os.uname().release and system != "Docker Desktop",
        api_version=str(version.get("ApiVersion", "")),
        server_version=str(info.get("ServerVersion", "")),
        operating_system=system,
        kernel=kernel,
        architecture=str(info.get("Architecture", "")),
        cpus=int(info.get("NCPU") or 0),
        memory=int(info.get("MemTotal") or 0),
        storage_driver=str(info.get("Driver", "")),
        root_dir=str(info.get("DockerRootDir", "")),
        cgroup_driver=str(info.get("CgroupDriver", "")),
        cgroup_version=str(info.get("CgroupVersion", "")),
        limits=_limits(info),
        rootless="rootless" in options,
        security_options=options,
        runtimes=tuple(sorted(info.get("Runtimes") or {})),
        default_runtime=str(info.get("DefaultRuntime", "")),
        name="podman" if _is_podman(version) else "docker",
        components=_components(info, version),
        user_namespace="userns" in options or "rootless" in options,
    )


def _limits(info: Mapping[str, Any]) -> dict[str, bool]:
    # Without a cgroup driver an engine accepts limits and enforces none, whatever it claims.
    enforced = info.get("CgroupDriver") not in {None, "", "none"}
    return {
        "memory": enforced and bool(info.get("MemoryLimit")),
        "pids": enforced and bool(info.get("PidsLimit")),
        "cpu": enforced and bool(info.get("CpuCfsQuota")),
    }


def _is_podman(version: Mapping[str, Any]) -> bool:
    return any("podman" in str(part.get("Name", "")).lower() for part in _parts(version))


def _parts(version: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for part in version.get("Components") or () if isinstance(part, Mapping)]


def _components(info: Mapping[str, Any], version: Mapping[str, Any]) -> dict[str, str]:
    """Return each part's version; what a distribution built tells its revision as the commit."""
    found: dict[str, str] = {}
    for part in _parts(version):
        name, told = str(part.get("Name", "")), str(part.get("Version", ""))
        details = part.get("Details")
        commit = str(details.get("GitCommit", "")) if isinstance(details, Mapping) else ""
        runtime = _OCI_RUNTIME.fullmatch(name)
        if runtime:
            # Podman puts the runtime's whole answer there: "runc version N", "commit: REVISION".
            name = runtime[1]
            words = _FIRST_VERSION.search(told)
            revision = _COMMIT_LINE.search(told)
            told, commit = words[1] if words else "", revision[1] if revision else ""
        found[name] = commit if told and commit.startswith(told) else told
    for name, key in (("runc", "RuncCommit"), ("containerd", "ContainerdCommit")):
        told_of = info.get(key)
        if name not in found and isinstance(told_of, Mapping) and told_of.get("ID"):
            found[name] = str(told_of["ID"])
    return found


def _option_name(text: str) -> str:
    first = text.split(",", maxsplit=1)[0]
    return first.removeprefix("name=")
