"""Judging what a box sees of its host: mounts, devices, namespaces, masked files. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.engine.trust_files import TRUST
from orchestrator.sandbox.container_spec import (
    MASKED,
    READ_ONLY,
    SOCKET_MOUNT,
    tmpfs_sizes,
    writable_places,
)
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.sandbox.results import Findings, MountSeen

_INITIAL = {
    "ipc": "ipc:[4026531839]",
    "uts": "uts:[4026531838]",
    "pid": "pid:[4026531836]",
    "cgroup": "cgroup:[4026531835]",
}
"""The numbers of the first namespaces are part of the kernel's interface (linux/proc_ns.h)."""
_SEPARATE = ("pid", "ipc", "uts", "net", "mnt", "cgroup")

_DEVICES = frozenset(
    f"/dev/{name}"
    for name in ("console", "full", "null", "ptmx", "random", "tty", "urandom", "zero")
)
_GVISOR_DEVICES = frozenset({"/dev/fuse", "/dev/net/tun"})
_SYSTEM_MOUNTS = frozenset({"/", "/proc", "/sys", "/dev", "/dev/pts", "/dev/mqueue", "/dev/shm"})  # noqa: S108 - in the box
_ENGINE_MOUNTS = frozenset(
    {
        "/etc/resolv.conf",
        "/etc/hostname",
        "/etc/hosts",
        "/sbin/docker-init",
        "/usr/sbin/docker-init",
        "/dev/init",
        "/run/podman-init",
        "/run/.containerenv",
        # Podman's: closed directories, and a mask of its own.
        "/run",
        "/var/tmp",  # noqa: S108 - in the box
        "/sys/dev/block",
    }
)
_CGROUPS = "/sys/fs/cgroup"
_KERNEL_WRITABLE = frozenset({"/", "/proc", "/dev", "/dev/pts", "/dev/mqueue", _CGROUPS})
"""Mounted for writing by every engine, and root's but for terminals and queues."""
_SILENT = ("absent", "hidden")
_MOST_NAMED = 5


def masked_paths(found: Findings, *, own_kernel: bool) -> str:
    """Name what is shown that was to be hidden, or can be changed that was to be fixed."""
    if own_kernel:
        # The files are those of gVisor's kernel; there is nothing of the host in them.
        return ""
    if not found.shown:
        return "not looked at"
    shown = [path for path in MASKED if found.shown.get(path) not in _SILENT]
    options = {mount.target: mount.options.split(",") for mount in found.mounts}
    open_ones = [
        path
        for path in READ_ONLY
        if "ro" not in options.get(path, []) and found.shown.get(path) != "absent"
    ]
    parts = [f"shown: {_some(shown)}"] if shown else []
    parts += [f"not read-only: {_some(open_ones)}"] if open_ones else []
    return "; ".join(parts)


def namespaces(found: Findings, host: str, *, own_kernel: bool) -> str:
    """Name the namespaces that are shared with the host, as far as the box can tell.

    ``host`` holds the host's own, separated by blanks, where the engine is on this machine.
    """
    if own_kernel:
        return ""
    ours = {*host.split(), *_INITIAL.values()}
    shared = [name for name in _SEPARATE if found.namespaces.get(name, "") in {"", *ours}]
    return f"shared or not told: {', '.join(shared)}" if shared else ""


def devices(found: Findings, *, own_kernel: bool) -> str:
    """Name the devices that are none of the harmless ones; gVisor's are its own."""
    harmless = _DEVICES | _GVISOR_DEVICES if own_kernel else _DEVICES
    odd = [path for path in found.devices if path not in harmless]
    return f"has {_some(odd)}" if odd else ""


def mounts(found: Findings, spec: BoxSpec, volumes: Iterable[str] = ()) -> str:
    """Name mounts that were not asked for, writable where they should not be, or shared.

    ``volumes`` are those that the image declares: the box has them, read-only.
    """
    if not found.mounts:
        return "not told"
    asked = {mount.target for mount in spec.mounts} | {*tmpfs_sizes(spec)}
    asked |= {SOCKET_MOUNT, TRUST, *volumes}
    expected = asked | _SYSTEM_MOUNTS | _ENGINE_MOUNTS | _DEVICES | {*MASKED} | {*READ_ONLY}
    # That one is root's; what commands can write to is tried beside this.
    writable = {TRUST, *writable_places(spec), *MASKED} | _KERNEL_WRITABLE | _DEVICES
    odd = [m.target for m in found.mounts if m.target not in expected and not _is_cgroup(m)]
    shared = [mount.target for mount in found.mounts if "shared:" in mount.propagation]
    changeable = [
        mount.target
        for mount in found.mounts
        if "rw" in mount.options.split(",")
        and mount.target not in writable
        # Engines with user namespaces mount them so; whether limits can be changed is tried.
        and not _is_cgroup(mount)
    ]
    rows = (("unexpected", odd), ("shared with the host", shared), ("writable", changeable))
    return "; ".join(f"{what}: {_some(paths)}" for what, paths in rows if paths)


def _is_cgroup(mount: MountSeen) -> bool:
    return mount.target == _CGROUPS or (
        mount.target.startswith(f"{_CGROUPS}/") and mount.kind in {"cgroup", "cgroup2"}
    )


def _some(paths: list[str]) -> str:
    more = len(paths) - _MOST_NAMED
    return ", ".join(paths[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
