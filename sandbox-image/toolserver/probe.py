"""What the box really is, found as a command finds it; the host turns it into a posture."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
from typing import TYPE_CHECKING, Any

import cgroup

if TYPE_CHECKING:
    from collections.abc import Callable

CLONE_NEWUSER = 0x10000000
_STATUS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid")
_ROOT_PROBES = ("/.glovebox-probe", "/etc/.glovebox-probe", "/usr/.glovebox-probe")


def facts() -> dict[str, Any]:
    """Return plain findings; run it in a worker, as the command's user."""
    return {
        "status": _status(),
        "kernel": os.uname().release,
        "interfaces": sorted(os.listdir("/sys/class/net")),
        "routes": _routes(),
        "root_options": _mount_options("/"),
        "root_writes": [path for path in _ROOT_PROBES if _can_create(path)],
        "pids_limit": cgroup.pids_limit(),
        "memory_limit": cgroup.memory_limit(),
        "refused": {name: _refused(attempt) for name, attempt in _ATTEMPTS.items()},
    }


def _status() -> dict[str, str]:
    found = {}
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in _STATUS:
                found[name] = value.strip()
    return found


def _routes() -> int:
    """Count the IPv4 routes; a box without a network has none."""
    with open("/proc/net/route", encoding="ascii") as file:
        return sum(1 for line in file if line.strip()) - 1


def _mount_options(target: str) -> str:
    options = ""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split()
            if fields[4] == target:
                options = fields[5]
    return options


def _can_create(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    os.unlink(path)
    return True


def _refused(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except OSError as err:
        # A kernel without the family or the call refuses as well as a filter does.
        return err.errno in {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EAFNOSUPPORT}
    return False


def _open_vsock() -> None:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


def _open_raw() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()


def _open_packet() -> None:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


def _new_user_namespace() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _regain_root() -> None:
    os.setresuid(0, 0, 0)


_ATTEMPTS = {
    "vsock": _open_vsock,
    "raw_socket": _open_raw,
    "packet_socket": _open_packet,
    "user_namespace": _new_user_namespace,
    "root": _regain_root,
}
