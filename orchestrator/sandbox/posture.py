"""From what the probe found inside to controls that hold: a control nobody saw is not there.

``exposure`` judges what is seen of the host, this what commands may do and how much they may use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orchestrator.sandbox.container_spec import writable_places
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.sandbox.exposure import devices, masked_paths, mounts, namespaces
from orchestrator.sandbox.results import Findings
from orchestrator.sandbox.told import (
    FLAWS,
    HOST_KERNEL,
    HOST_LIMIT,
    HOST_NAMESPACES,
    UNRECORDED,
    VOLUMES,
)
from orchestrator.schema.posture import CONTROLS, Posture

_FILTERED = (
    "vsock",
    "raw_socket",
    "packet_socket",
    "crypto_socket",
    "user_namespace",
    "mount",
    "ptrace",
    "keyctl",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
)
_PAST_GVISOR = ("vsock", "raw_socket", "packet_socket", "crypto_socket", "bpf", "io_uring_setup")
_CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")
"""gVisor has no ambient set, the last."""
_SECCOMP_FILTER = "2"
_GVISOR_KERNEL = "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"
"""What every gVisor says it is."""
_CPU_SLACK = 0.01


@dataclass(frozen=True, slots=True)
class _Seen:
    found: Findings
    spec: BoxSpec
    told: Mapping[str, str]


def posture_of(found: Findings, spec: BoxSpec, told: Mapping[str, str]) -> Posture:
    """Return the controls that the findings prove for this box, with the plain facts.

    ``told`` is what the engine said, see ``told.py``; what is missing there proves nothing.
    """
    seen = _Seen(found, spec, told)
    lacking = {name: _JUDGES[name](seen) for name in CONTROLS}
    return Posture(
        controls={name: not lack for name, lack in lacking.items()},
        found={name: lack for name, lack in lacking.items() if lack},
        facts={
            **{name: value for name, value in told.items() if name not in UNRECORDED},
            "kernel": found.kernel,
            "kernel_of": "gvisor" if _is_gvisor(seen) else "host",
            "uid": found.status.get("Uid", "").split("\t")[0],
            "pids_limit": str(found.pids_limit),
            "memory_limit": str(found.memory_limit),
            "cpu_limit": str(found.cpu_limit),
        },
    )


def _seccomp(seen: _Seen) -> str:
    found = seen.found
    open_calls = [name for name in _FILTERED if not found.refused.get(name, False)]
    mode = found.status.get("Seccomp")
    if _is_gvisor(seen):
        # No filter is needed between a command and gVisor; what leads past it must be closed.
        ways = [name for name in _PAST_GVISOR if name in open_calls]
        return f"open: {', '.join(ways)}" if ways else ""
    if mode != _SECCOMP_FILTER:
        return f"mode {mode or 'not told'}; open: {', '.join(open_calls) or 'none seen'}"
    return f"open: {', '.join(open_calls)}" if open_calls else ""


def _no_new_privileges(seen: _Seen) -> str:
    value = seen.found.status.get("NoNewPrivs")
    return "" if value == "1" else f"NoNewPrivs {value or 'not told'}"


def _no_network(seen: _Seen) -> str:
    found = seen.found
    if found.interfaces == ["lo"] and found.routes == 0:
        return ""
    return f"interfaces {', '.join(found.interfaces) or 'none'}; {found.routes} routes"


def _non_root(seen: _Seen) -> str:
    """Real, effective, saved and file-system ids must all be the command's."""
    status, spec = seen.found.status, seen.spec
    uids, gids = status.get("Uid", "").split(), status.get("Gid", "").split()
    if uids != [str(spec.uid)] * 4 or gids != [str(spec.gid)] * 4 or spec.uid == 0:
        return f"uids {' '.join(uids)}, gids {' '.join(gids)}"
    return "" if seen.found.refused.get("root", False) else "a command could become root"


def _no_capabilities(seen: _Seen) -> str:
    names = _CAPABILITY_SETS[:-1] if _is_gvisor(seen) else _CAPABILITY_SETS
    sets = {name: seen.found.status.get(name, "") for name in names}
    held = [f"{name} {value or 'not told'}" for name, value in sets.items() if set(value) != {"0"}]
    return ", ".join(held)


def _pids_limit(seen: _Seen) -> str:
    return _limited(seen, "pids", seen.found.pids_limit, seen.spec.limits.pids)


def _memory_limit(seen: _Seen) -> str:
    return _limited(seen, "memory", seen.found.memory_limit, seen.spec.limits.memory)


def _cpu_limit(seen: _Seen) -> str:
    return _limited(seen, "cpu", seen.found.cpu_limit, seen.spec.limits.cpus + _CPU_SLACK)


def _read_only_root(seen: _Seen) -> str:
    found = seen.found
    if found.root_writes:
        return f"could write {', '.join(found.root_writes)}"
    read_only = "ro" in found.root_options.split(",")
    return "" if read_only else f"mounted {found.root_options or 'as not told'}"


def _masked_paths(seen: _Seen) -> str:
    return masked_paths(seen.found, own_kernel=_is_gvisor(seen))


def _private_namespaces(seen: _Seen) -> str:
    return namespaces(seen.found, seen.told.get(HOST_NAMESPACES, ""), own_kernel=_is_gvisor(seen))


def _server_out_of_reach(seen: _Seen) -> str:
    return "" if seen.found.refused.get("server", False) else "its descriptors can be listed"


def _no_devices(seen: _Seen) -> str:
    return devices(seen.found, own_kernel=_is_gvisor(seen))


def _expected_mounts(seen: _Seen) -> str:
    volumes = seen.told.get(VOLUMES, "").splitlines()
    return mounts(seen.found, seen.spec, volumes)


def _disk_watch(seen: _Seen) -> str:
    found, limits = seen.found, seen.spec.limits
    unwatched = sorted({*writable_places(seen.spec)} - {*found.disk_places})
    if unwatched:
        return f"cannot be written or watched: {', '.join(unwatched)}"
    if found.disk_limit > limits.disk:
        return f"budget {found.disk_limit}, asked for {limits.disk}"
    return _within(found.file_size_limit, limits.file_size)


def _exec_record(seen: _Seen) -> str:
    return seen.found.exec_record


def _runtime_not_known_bad(seen: _Seen) -> str:
    # Told as empty means judged and found clean; not told means not judged.
    return seen.told.get(FLAWS, "versions not told")


def _gvisor(seen: _Seen) -> str:
    return "" if _is_gvisor(seen) else f"kernel {seen.found.kernel} of the host"


def _is_gvisor(seen: _Seen) -> bool:
    """Its own kernel, and not the one that the engine runs on."""
    host = seen.told.get(HOST_KERNEL, "")
    return seen.found.version == _GVISOR_KERNEL and host not in {"", seen.found.kernel}


def _limited(seen: _Seen, name: str, inside: float | None, wanted: float) -> str:
    if seen.found.limit_writes:
        return f"a command can change {', '.join(seen.found.limit_writes)}"
    return _within(_held(seen, name, inside), wanted)


def _held(seen: _Seen, name: str, inside: float | None) -> float | None:
    """Return the limit in force: a kernel of the box's own shows none, the host's does."""
    if not _is_gvisor(seen):
        return inside
    try:
        return float(seen.told[f"{HOST_LIMIT}{name}"])
    except (KeyError, ValueError):
        return None


def _within(found: float | None, wanted: float) -> str:
    if found is None:
        return "no limit"
    return "" if 0 < found <= wanted else f"{found}, asked for {wanted}"


_JUDGES: dict[str, Callable[[_Seen], str]] = {
    "seccomp": _seccomp,
    "no_new_privileges": _no_new_privileges,
    "no_network": _no_network,
    "non_root": _non_root,
    "no_capabilities": _no_capabilities,
    "pids_limit": _pids_limit,
    "memory_limit": _memory_limit,
    "cpu_limit": _cpu_limit,
    "read_only_root": _read_only_root,
    "masked_paths": _masked_paths,
    "private_namespaces": _private_namespaces,
    "server_out_of_reach": _server_out_of_reach,
    "no_devices": _no_devices,
    "expected_mounts": _expected_mounts,
    "disk_watch": _disk_watch,
    "exec_record": _exec_record,
    "runtime_not_known_bad": _runtime_not_known_bad,
    "gvisor": _gvisor,
}
"""Each says what is lacking, or nothing where the control holds."""
