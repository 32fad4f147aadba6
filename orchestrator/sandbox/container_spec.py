"""From a BoxSpec to the engine's create options: pure, so that every hardening is a plain test.

``docker_driver`` sends them; ``posture`` checks from inside that the engine kept its word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.engine.labels import BOX, KIND, OWNER, SESSION
from orchestrator.engine.trust_files import TRUST
from orchestrator.errors import BoxError
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.schema.mount import Mount

_RUNTIME = "/opt/glovebox/runtime"
SERVER = (
    f"{_RUNTIME}/ld.so",
    "--inhibit-cache",
    "--library-path",
    f"{_RUNTIME}/libraries",
    f"{_RUNTIME}/bin/python3",
    "-I",
    "-S",
    "-B",
    "/opt/glovebox/toolserver",
)
"""Our own loader, libraries and Python: nothing of the image runs with the server's powers."""
HOME = "/home/agent"
SOCKET_MOUNT = "/glove/s"
"""Beneath a directory that root alone may enter; commands could not reach it if they owned it."""

NAME_FILES = {
    "hosts": "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    "resolv.conf": "nameserver 127.0.0.1\n",
}
"""What names mean in a box, as the engine would have it."""

_SERVER_ENVIRONMENT = {"HOME": "/", "LC_ALL": "C", "PATH": "/opt/glovebox"}
_SERVER_PAIRS = [f"{name}={value}" for name, value in _SERVER_ENVIRONMENT.items()]

_HOME_SIZE = 1024**3
_SHM_SIZE = 64 * 1024**2
_TMPFS_SHARE = 0.5
"""Of the memory limit: tmpfs pages are charged to it, and a full one would starve every command."""

MASKED = (
    "/dev/mqueue",
    # How the host was booted and built, what its memory and buses look like, what it does now.
    "/proc/acpi",
    "/proc/asound",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/consoles",
    "/proc/diskstats",
    "/proc/driver",
    "/proc/interrupts",
    "/proc/iomem",
    "/proc/ioports",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/latency_stats",
    "/proc/locks",
    "/proc/modules",
    "/proc/mtrr",
    "/proc/partitions",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/slabinfo",
    "/proc/sysvipc",
    "/proc/timer_list",
    "/proc/timer_stats",
    # Serial numbers, disks, buses, the running kernel's types and symbols.
    "/sys/block",
    "/sys/bus",
    "/sys/class/block",
    "/sys/class/dmi",
    "/sys/class/misc",
    "/sys/class/nvme",
    "/sys/class/scsi_host",
    "/sys/dev",
    "/sys/devices/virtual/block",
    "/sys/devices/virtual/dmi",
    "/sys/devices/virtual/misc",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/sys/fs/bpf",
    "/sys/hypervisor",
    "/sys/kernel",
    "/sys/module",
    "/sys/power",
)
"""Hidden files and directories; one that the kernel lacks needs no hiding."""
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
_TMPFS_OPTIONS = "rw,exec,nosuid,nodev"
"""Scripts in /tmp are daily work; nothing in the box can raise privileges by executing."""
_TRUST_OPTIONS = "rw,noexec,nosuid,nodev,size=16777216,mode=0755"
"""Root's: the tool server writes there which authorities commands trust."""


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """What an image says of how it wants to be run."""

    environment: tuple[str, ...] = ()
    """Each ``NAME=value``."""
    volumes: tuple[str, ...] = ()
    """Paths for which the engine would make a volume at each start."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a box stands on here and now, beside its spec."""

    owner: str
    """The harness process, for reaping."""
    seccomp: str
    """The profile as JSON text, or the path of a file that the engine reads."""
    socket_directory: str | None
    """Host directory of the session's socket; None where calls go over standard input and output."""
    image: ImageConfig = field(default_factory=ImageConfig)
    """What the image declares; nothing of it may take effect."""
    names: str | None = None
    """Host directory with the box's ``hosts`` and ``resolv.conf``; None where the engine makes both.

    It makes them with a network, and to hand a container even the empty one takes Docker as long
    as all the rest of the start. Without, the runtime itself makes the namespace with its loopback.
    """
    ipv6: bool = False
    """True where the runtime's namespace would have it; the engine's own has not."""


def container_options(spec: BoxSpec, ground: Ground) -> dict[str, Any]:
    """Return the whole body of the engine's create call."""
    if spec.uid <= 0 or spec.gid <= 0:
        raise BoxError(f"box: commands never run as root; got uid {spec.uid}, gid {spec.gid}")
    if ground.image.volumes:
        # The engine would make a writable directory for each, outside of every limit.
        raise BoxError(
            f"box: image {spec.image} declares volumes: {', '.join(ground.image.volumes)}",
            hint="start from the layer that `glovebox run` makes of it, which has none",
        )
    return {
        "Image": spec.image,
        "Entrypoint": list(SERVER),
        "Cmd": [],
        "User": "0:0",
        "Env": _server_environment(ground.image),
        "WorkingDir": "/",
        "StopSignal": "SIGKILL",
        "Hostname": "box",
        "NetworkDisabled": ground.names is not None,
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        # An image's health check would run as root beside the server.
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {
            **spec.labels,
            SESSION: str(spec.session),
            OWNER: ground.owner,
            KIND: BOX,
        },
        "HostConfig": _host_config(spec, ground),
    }


def _server_environment(image: ImageConfig) -> list[str]:
    """Return the server's variables: a name without a value takes the image's own away.

    The image's reach commands alone, and in ``hello``; here LD_PRELOAD would be root's.
    """
    names = {entry.partition("=")[0] for entry in image.environment}
    return [*sorted(names - set(_SERVER_ENVIRONMENT) - {""}), *_SERVER_PAIRS]


def tmpfs_sizes(spec: BoxSpec) -> dict[str, int]:
    """Return every tmpfs and its size; together they take at most half of the memory."""
    home = min(_HOME_SIZE, spec.limits.memory // 4)
    mounted = {mount.target for mount in spec.mounts if not _is_tmpfs(mount)}
    wanted = {HOME: home, **spec.tmpfs}
    wanted = {target: size for target, size in wanted.items() if target not in mounted}
    wanted |= {mount.target: mount.size or home for mount in spec.mounts if _is_tmpfs(mount)}
    room = spec.limits.memory * _TMPFS_SHARE - _shm_size(spec)
    scale = min(1.0, room / sum(wanted.values()))
    return {target: max(4096, int(size * scale)) for target, size in wanted.items()}


def writable_places(spec: BoxSpec) -> tuple[str, ...]:
    """Return every mount that a command can fill, the workspace first."""
    mounted = [mount.target for mount in spec.mounts if not mount.read_only]
    places = [spec.workdir, *mounted, *tmpfs_sizes(spec), "/dev/shm"]  # noqa: S108 - in the box
    return tuple(dict.fromkeys(places))


def _host_config(spec: BoxSpec, ground: Ground) -> dict[str, Any]:
    limits = spec.limits
    options: dict[str, Any] = {
        "AutoRemove": True,
        "Init": True,
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        "Privileged": False,
        "CapDrop": ["ALL"],
        "CapAdd": ["SETUID", "SETGID", "KILL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={_seccomp(ground.seccomp)}"],
        "NetworkMode": "none",
        "Dns": ["127.0.0.1"],
        "Sysctls": {"net.ipv4.ip_unprivileged_port_start": "0"},
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "PidMode": "",
        "UTSMode": "",
        "Devices": [],
        "ReadonlyRootfs": spec.read_only_root,
        "MaskedPaths": list(MASKED),
        "ReadonlyPaths": list(READ_ONLY),
        "PidsLimit": limits.pids,
        "Memory": limits.memory,
        # No swap beyond it: a box that swaps slows everything else down.
        "MemorySwap": limits.memory,
        "NanoCpus": int(limits.cpus * 1_000_000_000),
        "ShmSize": _shm_size(spec),
        "Tmpfs": {target: _tmpfs(target, size, spec) for target, size in tmpfs_sizes(spec).items()}
        | {TRUST: _TRUST_OPTIONS},
        "Mounts": [_mount(mount) for mount in spec.mounts if not _is_tmpfs(mount)],
    }
    if ground.names is not None:
        options["Mounts"] += [
            _mount(Mount("bind", f"{ground.names}/{name}", f"/etc/{name}", read_only=True))
            for name in NAME_FILES
        ]
        if ground.ipv6:
            options["Sysctls"] |= {"net.ipv6.conf.all.disable_ipv6": "1"}
    if ground.socket_directory is not None:
        glove = Mount("bind", ground.socket_directory, SOCKET_MOUNT, read_only=True)
        options["Mounts"].append(_mount(glove))
    if spec.runtime is not None:
        options["Runtime"] = spec.runtime
    return options


def _tmpfs(target: str, size: int, spec: BoxSpec) -> str:
    mode = "1777" if target in {"/tmp", "/var/tmp"} else "0755"  # noqa: S108 - in the box
    return f"{_TMPFS_OPTIONS},size={size},mode={mode},uid={spec.uid},gid={spec.gid}"


def _shm_size(spec: BoxSpec) -> int:
    return min(_SHM_SIZE, spec.limits.memory // 16)


def _is_tmpfs(mount: Mount) -> bool:
    return mount.kind == "tmpfs"


def _mount(mount: Mount) -> Mapping[str, Any]:
    options: dict[str, Any] = {
        "Type": mount.kind,
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": mount.read_only,
    }
    if mount.kind == "volume":
        # Else the engine fills an empty volume with what the image has at the target.
        options["VolumeOptions"] = {"NoCopy": True}
    elif mount.kind == "bind":
        # A mount beneath a read-only one would stay writable.
        options["BindOptions"] = {"Propagation": "rprivate", "NonRecursive": mount.read_only}
    else:
        raise BoxError(f"box: mount of kind volume, bind or tmpfs expected, got {mount.kind!r}")
    return options


def _seccomp(profile: str) -> str:
    if profile.startswith("/"):
        return profile
    return json.dumps(json.loads(profile), separators=(",", ":"))
