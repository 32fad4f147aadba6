"""What the box really is, found as a command finds it; the host turns it into a posture."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import socket
from typing import TYPE_CHECKING, Any

import cgroup
import exposure

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config

PR_GET_NO_NEW_PRIVS = 39
CLONE_NEWUSER = 0x10000000
_STATUS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid")
_ROOT_PROBES = (
    "/.glovebox-probe",
    "/etc/.glovebox-probe",
    "/usr/.glovebox-probe",
    "/opt/glovebox-trust/.glovebox-probe",
)


def facts(request: dict[str, Any], config: Config) -> dict[str, Any]:
    """Return plain findings; run it in a worker, as the command's user."""
    return {
        **exposure.everything(request),
        "status": _status(),
        "kernel": os.uname().release,
        "interfaces": _interfaces(),
        "routes": _routes(),
        "root_options": _mount_options("/"),
        "root_writes": [path for path in _ROOT_PROBES if _can_create(path)],
        "pids_limit": cgroup.pids_limit(),
        "memory_limit": cgroup.memory_limit(),
        "cpu_limit": cgroup.cpu_limit(),
        "limit_writes": cgroup.changeable(),
        "disk_limit": config.limits.disk,
        "disk_places": _disk_places(config),
        "file_size_limit": _file_size(),
        "exec_record": str(request["exec_record"]),
        "refused": {name: _refused(attempt) for name, attempt in _ATTEMPTS.items()},
    }


def _disk_places(config: Config) -> list[str]:
    """Return the writable places whose use the server can watch; scratch must be writable too."""
    scratch = {mount["target"] for mount in exposure.mounts() if mount["kind"] == "tmpfs"}
    return [
        path
        for path in config.writable
        if os.statvfs(path).f_blocks > 0 and (path not in scratch or os.access(path, os.W_OK))
    ]


def _file_size() -> int | None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if resource.RLIM_INFINITY in (soft, hard) else max(soft, hard)


def _status() -> dict[str, str]:
    found = {}
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in _STATUS:
                found[name] = value.strip()
    # gVisor's status file has no such line, though it keeps the promise.
    asked = ctypes.CDLL(None, use_errno=True).prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
    found.setdefault("NoNewPrivs", str(asked))
    return found


def _interfaces() -> list[str]:
    with open("/proc/net/dev", encoding="ascii", errors="replace") as file:
        return sorted(line.split(":")[0].strip() for line in file if ":" in line)


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


def _opened(family: int, kind: int, protocol: int = 0) -> Callable[[], None]:
    return lambda: socket.socket(family, kind, protocol).close()


def _called(name: str, *arguments: int) -> Callable[[], None]:
    """Return an attempt at a system call; one that this machine's table lacks counts as refused."""

    def attempt() -> None:
        number = _NUMBERS.get(os.uname().machine, {}).get(name)
        if number is None:
            raise OSError(errno.ENOSYS, name)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(number, *(ctypes.c_long(value) for value in arguments)) < 0:
            raise OSError(ctypes.get_errno(), name)

    return attempt


def _enter_server() -> None:
    os.listdir(f"/proc/{os.getppid()}/fd")


def _regain_root() -> None:
    os.setresuid(0, 0, 0)


_NUMBERS = {
    "x86_64": {
        "ptrace": 101,
        "mount": 165,
        "unshare": 272,
        "keyctl": 250,
        "perf_event_open": 298,
        "bpf": 321,
        "userfaultfd": 323,
        "io_uring_setup": 425,
    },
    "aarch64": {
        "ptrace": 117,
        "mount": 40,
        "unshare": 97,
        "keyctl": 219,
        "perf_event_open": 241,
        "bpf": 280,
        "userfaultfd": 282,
        "io_uring_setup": 425,
    },
}
AF_ALG, AF_PACKET, AF_VSOCK = 38, 17, 40
_PTRACE_SEIZE, _NOBODY = 0x4206, 0x7FFFFFFF
"""A process that cannot exist: unfiltered, the kernel would say that it found none."""

_ATTEMPTS: dict[str, Callable[[], None]] = {
    # First: whoever may enter a user namespace is root in that one.
    "root": _regain_root,
    "server": _enter_server,
    "vsock": _opened(AF_VSOCK, socket.SOCK_STREAM),
    "raw_socket": _opened(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "packet_socket": _opened(AF_PACKET, socket.SOCK_RAW),
    "crypto_socket": _opened(AF_ALG, socket.SOCK_SEQPACKET),
    "user_namespace": _called("unshare", CLONE_NEWUSER),
    "mount": _called("mount", 0, 0, 0, 0, 0),
    "ptrace": _called("ptrace", _PTRACE_SEIZE, _NOBODY, 0, 0),
    "keyctl": _called("keyctl", 0, -3, 0),
    "bpf": _called("bpf", 0, 0, 0),
    "perf_event_open": _called("perf_event_open", 0, 0, -1, -1, 0),
    "userfaultfd": _called("userfaultfd", 0),
    "io_uring_setup": _called("io_uring_setup", 0, 0),
}
