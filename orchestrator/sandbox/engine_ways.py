"""Where engines that speak Docker's API differ in what they take; found by trying each."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.engine.facts import EngineInfo
from orchestrator.engine.trust_files import TRUST
from orchestrator.errors import EngineError

_LIMITS = {"nofile": (resource.RLIMIT_NOFILE, 65_536), "nproc": (resource.RLIMIT_NPROC, 16_384)}
"""As many open files as the tool server allows a command; processes have a limit of their own."""
_RUNC = frozenset({"runc", "io.containerd.runc.v2"})
_CLOSED = ("/run", "/var/tmp")  # noqa: S108 - in the box


def seccomp_option(info: EngineInfo, profile: Path) -> str:
    """Return the profile as the engine takes it: its text, or for Podman the path of the file.

    Raises EngineError for a Podman elsewhere, whose machine does not have the file.
    """
    if info.name != "podman":
        return profile.read_text()
    if not info.local:
        raise EngineError(
            "podman on another machine: it takes a seccomp profile only as a file that it has "
            "there, and no box starts without ours",
            hint="use Docker there, or run glovebox on that machine",
        )
    return str(profile.resolve())


def makes_network(info: EngineInfo, runtime: str) -> bool:
    """Say whether a runtime makes the empty network by itself, as well as the engine would.

    gVisor makes one without a loopback, Podman takes no notice of the wish.
    """
    return info.name == "docker" and runtime in _RUNC


def has_ipv6() -> bool:
    """Say whether this machine's kernel has IPv6, so that there is something to switch off."""
    return Path("/proc/sys/net/ipv6/conf").is_dir()


def adapted(options: Mapping[str, Any], info: EngineInfo) -> dict[str, Any]:
    """Return the create call's body as the engine takes it; nothing is loosened by it."""
    if info.name != "podman":
        return dict(options)
    host = dict(options["HostConfig"])
    host["Tmpfs"] = {
        target: text if target == TRUST else _without_owner(text)
        for target, text in host["Tmpfs"].items()
    }
    # It fills /run and /var/tmp of a read-only root with writable ones of its own, unless given.
    host["Tmpfs"] |= dict.fromkeys(_CLOSED, "ro,noexec,nosuid,nodev,size=4096,mode=0755")
    # The fields for these are read from Docker's API and dropped.
    host["SecurityOpt"] = [*host["SecurityOpt"], f"mask={':'.join(host['MaskedPaths'])}"]
    # Podman asks for a million of each, which fails where its own limits are lower.
    host["Ulimits"] = [_own_limit(name) for name in _LIMITS]
    return {**options, "HostConfig": host}


def _without_owner(text: str) -> str:
    """Podman knows no owner of a tmpfs: open to all, as /tmp is; a box has one user.

    It would give the directory the mode that it has in the image, too.
    """
    words = [word for word in text.split(",") if not word.startswith(("uid=", "gid=", "mode="))]
    return ",".join([*words, "mode=1777", "notmpcopyup"])


def _own_limit(name: str) -> dict[str, Any]:
    kind, most = _LIMITS[name]
    hard = resource.getrlimit(kind)[1]
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    return {"Name": name, "Soft": value, "Hard": value}
