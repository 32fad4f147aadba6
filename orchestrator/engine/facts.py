"""What an engine says about itself, as frozen data; ``client`` asks, this parses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    )


def _limits(info: Mapping[str, Any]) -> dict[str, bool]:
    # Without a cgroup driver an engine accepts limits and enforces none, whatever it claims.
    enforced = info.get("CgroupDriver") not in {None, "", "none"}
    return {
        "memory": enforced and bool(info.get("MemoryLimit")),
        "pids": enforced and bool(info.get("PidsLimit")),
        "cpu": enforced and bool(info.get("CpuCfsQuota")),
    }


def _option_name(text: str) -> str:
    first = text.split(",", maxsplit=1)[0]
    return first.removeprefix("name=")
