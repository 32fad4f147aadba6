"""The doctor: each thing a session needs, judged, with how to mend it. Pure; ``doctor_facts`` looks.

`glovebox doctor` prints this; `make` mends the same things in the same order.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from orchestrator.harness.doctor_box import BoxFacts
from orchestrator.harness.doctor_facts import EngineFacts, MachineFacts
from orchestrator.schema.posture import CONTROLS, Posture

Status = Literal["ok", "info", "warn", "fail"]

GIB = 1024**3

_LEAST_PYTHON = (3, 11)
_LEAST_KERNEL = (5, 11)
"""The first with overlay's `userxattr`, by which a plain user can read what a box deleted."""
_LEAST_FREE = 2 * GIB
"""Room for the image and one session's changes."""
_AMPLE_FREE = 10 * GIB
"""A session's default disk budget."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result."""

    name: str
    status: Status
    found: str
    mend: str = ""
    """What to do; empty where nothing has to be done."""
    engine: bool = False
    """True where a failure means that no box can be started."""


def diagnose(facts: MachineFacts) -> list[Finding]:
    """Judge everything, in the order in which it should be mended."""
    return [*(check(facts) for check in CHECKS), *box_findings(facts.box)]


def exit_code(findings: Sequence[Finding]) -> int:
    """Return 5 where the engine fails a check, 1 where something else does, else 0."""
    failed = [finding for finding in findings if finding.status == "fail"]
    if any(finding.engine for finding in failed):
        return 5
    return 1 if failed else 0


def check_python(facts: MachineFacts) -> Finding:
    """Python is new enough."""
    found = ".".join(map(str, facts.python))
    if facts.python < _LEAST_PYTHON:
        return Finding("python", "fail", found, "install Python 3.11 or newer")
    return Finding("python", "ok", found)


def check_engine(facts: MachineFacts) -> Finding:
    """An engine answers that speaks an API new enough, over a connection nobody can join."""
    engine = facts.engine
    if engine.info is None:
        return Finding("engine", "fail", engine.failure, engine.hint, engine=True)
    info = engine.info
    found = f"{info.server_version}, API {info.api_version}, at {engine.url}"
    if _crosses_network_in_clear(engine):
        mend = "whoever reads this connection is root there; use TLS or ssh://"
        return Finding("engine", "warn", found, mend)
    return Finding("engine", "ok", found)


def check_limits(facts: MachineFacts) -> Finding:
    """The engine can enforce memory, process and CPU limits."""
    info = facts.engine.info
    if info is None:
        return _no_engine("limits")
    missing = [name for name, held in info.limits.items() if not held]
    found = f"cgroup v{info.cgroup_version or '?'}, driver {info.cgroup_driver or 'none'}"
    if not missing:
        return Finding("limits", "ok", found)
    mend = "boot with cgroup v2 and delegate cpu, memory and pids to the engine"
    if info.rootless:
        mend = f"rootless engines ignore limits without cgroup v2: {mend}, or use the root engine"
    return Finding(
        "limits", "fail", f"{found}: cannot limit {', '.join(missing)}", mend, engine=True
    )


def check_seccomp(facts: MachineFacts) -> Finding:
    """The engine can filter system calls."""
    info = facts.engine.info
    if info is None:
        return _no_engine("seccomp")
    found = ", ".join(info.security_options) or "no security options"
    if "seccomp" in info.security_options:
        return Finding("seccomp", "ok", found)
    return Finding("seccomp", "fail", found, "use an engine and a kernel with seccomp", engine=True)


def check_workspace(facts: MachineFacts) -> Finding:
    """Host directories can be laid under a box as they are."""
    info = facts.engine.info
    if info is None:
        return _no_engine("workspace")
    if not info.local:
        return Finding(
            "workspace", "warn", "the engine is not on this machine: workspaces are copied"
        )
    if not facts.overlay:
        mend = "run: sudo modprobe overlay   (until then workspaces are copied)"
        return Finding("workspace", "warn", "the kernel has no overlay file system", mend)
    return Finding("workspace", "ok", f"overlay, engine stores with {info.storage_driver}")


def check_kernel(facts: MachineFacts) -> Finding:
    """The kernel can keep file operations beneath a directory."""
    if not facts.openat2:
        mend = "boot Linux 5.11 or newer; changes cannot be applied safely without openat2"
        return Finding("kernel", "fail", f"{facts.kernel}: no openat2", mend)
    version = re.match(r"(\d+)\.(\d+)", facts.kernel)
    if version and (int(version[1]), int(version[2])) < _LEAST_KERNEL:
        mend = "boot Linux 5.11 or newer; until then workspaces are copied"
        return Finding("kernel", "warn", facts.kernel, mend)
    return Finding("kernel", "ok", facts.kernel)


def check_image(facts: MachineFacts) -> Finding:
    """The sandbox image of the present sources is there."""
    engine = facts.engine
    if engine.info is None:
        return _no_engine("image")
    if engine.image_digest:
        return Finding("image", "ok", f"{engine.image}, {engine.image_digest[:19]}")
    base = "present" if engine.base_present else "missing too"
    mend = "run `glovebox image build`"
    return Finding("image", "fail", f"{engine.image} is missing or old; its base is {base}", mend)


def check_state(facts: MachineFacts) -> Finding:
    """State can be written, and nobody else can read it."""
    state = facts.state
    found = f"{state.path}" + ("" if state.exists else " (will be made)")
    if state.unwritable:
        mend = f"give yourself {state.path}, or name another place in GLOVEBOX_STATE"
        return Finding("state", "fail", f"cannot write in {state.unwritable}", mend)
    if state.exists and not state.own:
        mend = f'run: sudo chown -R "$USER" {state.path}'
        return Finding("state", "fail", f"{found} belongs to someone else", mend)
    if state.exists and state.mode & 0o077:
        mend = f"run: chmod 700 {state.path}"
        return Finding("state", "fail", f"{found} is open to others (mode {state.mode:o})", mend)
    return Finding("state", "ok", found)


def check_disk(facts: MachineFacts) -> Finding:
    """There is room for sessions and images."""
    room = {"state": facts.state.free}
    if facts.engine_free is not None:
        room["images"] = facts.engine_free
    found = ", ".join(f"{place}: {free / GIB:.0f} GiB free" for place, free in room.items())
    least = min(room.values())
    if least >= _AMPLE_FREE:
        return Finding("disk", "ok", found)
    mend = "make room: `glovebox image prune`, `glovebox gc`, `docker system df`"
    return Finding("disk", "warn" if least >= _LEAST_FREE else "fail", found, mend)


def check_policy(facts: MachineFacts) -> Finding:
    """What the machine's owner installed holds."""
    policy = facts.policy
    if policy.failure:
        return Finding("policy", "fail", policy.failure, policy.hint)
    if policy.layers:
        return Finding("policy", "ok", "; ".join(policy.layers))
    return Finding("policy", "info", "no organisation's policy is installed")


def check_way_out(facts: MachineFacts) -> Finding:
    """What the usual policy lets out of a box could be let out."""
    way = facts.way_out
    if way.failure:
        return Finding("way out", "fail", way.failure, way.hint)
    return Finding("way out", "info", way.found)


def check_model(facts: MachineFacts) -> Finding:
    """Some model can be asked."""
    have = [f"key for {name}" for name in facts.keys]
    have += ["small local model"] if facts.local_model else []
    if have:
        return Finding("model", "info", ", ".join(have))
    mend = "run `glovebox keys set anthropic`, or `make local` for a small local model"
    return Finding("model", "info", "no key in the environment and no local model", mend)


def check_keyring(facts: MachineFacts) -> Finding:
    """Keys can rest in the system's keyring."""
    if facts.keyring:
        return Finding("keyring", "info", facts.keyring)
    return Finding("keyring", "info", "none; keys come from the environment or the vault")


CHECKS: tuple[Callable[[MachineFacts], Finding], ...] = (
    check_python,
    check_engine,
    check_limits,
    check_seccomp,
    check_kernel,
    check_workspace,
    check_image,
    check_state,
    check_disk,
    check_policy,
    check_way_out,
    check_model,
    check_keyring,
)


def box_findings(box: BoxFacts) -> list[Finding]:
    """Judge a box that was asked: one finding for it, its parts, and each control it lacks."""
    if box.failure:
        return [Finding("box", "fail", box.failure, box.hint, engine=True)]
    if box.posture is None:
        return []
    posture = box.posture
    held = sum(1 for name in CONTROLS if posture.controls.get(name, False))
    lacking = [name for name in CONTROLS if not posture.controls.get(name, False)]
    refused = [name for name in lacking if name in box.required]
    found = f"{held} of {len(CONTROLS)} controls hold"
    status: Status = "fail" if refused else "ok"
    mend = f"policy requires {', '.join(refused)}: no session can start" if refused else ""
    return [
        Finding("box", status, found, mend, engine=True),
        Finding("parts", "info", _parts(posture)),
        *(_lacking(name, posture, required=name in box.required) for name in lacking),
    ]


def _parts(posture: Posture) -> str:
    names = ("engine", "runtime", "runc", "crun", "containerd", "cgroup", "kernel", "transport")
    told = {name: posture.facts[name] for name in names if name in posture.facts}
    root = posture.facts.get("root_is")
    return ", ".join(f"{name} {value}" for name, value in told.items()) + (
        f", root inside is {root}" if root else ""
    )


def _lacking(name: str, posture: Posture, *, required: bool) -> Finding:
    row = f"box.{name}"
    found = posture.found.get(name, "not looked at")
    if required:
        return Finding(row, "fail", found, CONTROLS[name].mend, engine=True)
    if name in _CHOICES:
        return Finding(row, "info", f"{found}; {CONTROLS[name].mend}")
    return Finding(row, "warn", found, CONTROLS[name].mend)


_CHOICES = frozenset({"gvisor"})
"""Controls whose lack is no fault of an engine."""


def _crosses_network_in_clear(engine: EngineFacts) -> bool:
    parts = urlsplit(engine.url)
    if parts.scheme not in {"tcp", "http"} or engine.encrypted:
        return False
    host = parts.hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def _no_engine(name: str) -> Finding:
    """Say that nothing is known, which is no pass; the engine's own check has the way out."""
    return Finding(name, "fail", "not known: no engine answers", engine=True)
