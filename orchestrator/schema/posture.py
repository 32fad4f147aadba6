"""What a running box really has, as it was found from inside, and the controls it is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Control:
    """One property of a box that policy may require."""

    required: str
    """What must have been seen, in a few words."""
    mend: str
    """What to do about an engine that does not give it."""


_LIMITS = "boot with cgroup v2 and delegate it to the engine, or use the root engine"
_PLAIN = "use an engine that keeps the options it is given; glovebox doctor shows this one"

CONTROLS: Mapping[str, Control] = {
    "seccomp": Control(
        "a filter, or gVisor, that refuses sockets and calls with a way to the host",
        "use an engine and a kernel with seccomp, and one that keeps the options it is given",
    ),
    "no_new_privileges": Control("no program can raise its privileges", _PLAIN),
    "no_network": Control("no interface but lo, and no route", _PLAIN),
    "non_root": Control("commands run as the session's user and cannot become root", _PLAIN),
    "no_capabilities": Control("commands have no capability", _PLAIN),
    "pids_limit": Control("the kernel holds the limit on processes", _LIMITS),
    "memory_limit": Control("the kernel holds the limit on memory", _LIMITS),
    "cpu_limit": Control("the kernel holds the limit on processors", _LIMITS),
    "read_only_root": Control(
        "the image's files cannot be changed", "leave sandbox.read_only_root at true"
    ),
    "masked_paths": Control("what tells of the host in /proc and /sys is hidden or fixed", _PLAIN),
    "private_namespaces": Control(
        "own pid, ipc, uts, net, mount and cgroup namespaces",
        "take default-cgroupns-mode and host namespaces out of the engine's configuration",
    ),
    "server_out_of_reach": Control(
        "commands cannot look into the tool server",
        "gVisor shows every process's descriptors to all: a command can then forge what later "
        "calls in its own box answer; use runc, or accept it",
    ),
    "no_devices": Control(
        "no device but the harmless ones", "take devices out of the engine's set-up"
    ),
    "expected_mounts": Control(
        "no mount that was not asked for, none that is shared with the host",
        "look for mounts and hooks in the configuration of the engine and its runtime",
    ),
    "disk_watch": Control("writes are watched, and files have a largest size", _PLAIN),
    "exec_record": Control(
        "every program that a command starts is recorded",
        "leave sandbox.exec_record at true, and use runc or crun on Linux 5.5 or later; gVisor "
        "cannot do it",
    ),
    "runtime_not_known_bad": Control(
        "runtime and containerd without a published way out",
        "install the distribution's security updates for runc and containerd, or use runsc",
    ),
    "gvisor": Control(
        "system calls end in gVisor, not in the host's kernel",
        "register runsc with the engine and set sandbox.runtime: runsc",
    ),
}
"""Every control, by the name that ``sandbox.require`` uses."""


@dataclass(frozen=True, slots=True)
class Posture:
    """Proved controls, and plain facts."""

    controls: Mapping[str, bool]
    """Every name of ``CONTROLS``, each True only where the probe saw it hold."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """For people and the audit: engine, runtime, kernel, image digest, uid, limits as found."""
    found: Mapping[str, str] = field(default_factory=dict)
    """What was seen of each control that does not hold, in a few words."""
