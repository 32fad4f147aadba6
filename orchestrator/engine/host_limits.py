"""The limits that the host's kernel holds for a container, read on the host itself.

A runtime with a kernel of its own does not show them inside. Only an engine of this machine can be
asked so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated

_V1 = {
    "pids": ("pids", "pids.max"),
    "memory": ("memory", "memory.limit_in_bytes"),
    "quota": ("cpu", "cpu.cfs_quota_us"),
    "period": ("cpu", "cpu.cfs_period_us"),
}


def container_limits(engine: Engine, container: str) -> dict[str, float]:
    """Return ``pids``, ``memory`` (bytes) and ``cpu`` (processors) as far as they are limited."""
    with translated("inspect the container"):
        found: Mapping[str, Any] = engine.api.inspect_container(container)
    pid = int((found.get("State") or {}).get("Pid") or 0)
    return process_limits(pid) if pid > 0 else {}


def process_limits(
    pid: int, *, proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")
) -> dict[str, float]:
    """Return the limits on the groups that a process is in, under either cgroup version."""
    groups = _groups(_text(proc / str(pid) / "cgroup"))
    read = {
        name: _text(root / kind / groups[kind] / file).split()
        for name, (kind, file) in _V1.items()
        if kind in groups
    }
    if "" in groups:
        folder = root / groups[""]
        for name, file in (("pids", "pids.max"), ("memory", "memory.max")):
            read.setdefault(name, _text(folder / file).split())
        if "quota" not in read:
            both = _text(folder / "cpu.max").split()
            read |= {"quota": both[:1], "period": both[1:2]}
    numbers = {name: int(words[0]) for name, words in read.items() if words and words[0].isdigit()}
    limits: dict[str, float] = {n: numbers[n] for n in ("pids", "memory") if n in numbers}
    if numbers.get("period") and "quota" in numbers:
        limits["cpu"] = numbers["quota"] / numbers["period"]
    return limits


def _groups(text: str) -> dict[str, str]:
    """Return controller to path; the one without a name is that of version 2."""
    found = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for name in controllers.split(","):
            found[name] = path.lstrip("/")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
