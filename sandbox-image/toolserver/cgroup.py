"""The limits that the kernel holds for this box, and whether they were hit; cgroup v1 or v2."""

from __future__ import annotations

ROOT = "/sys/fs/cgroup"

_PIDS_MAX = (f"{ROOT}/pids/pids.max", f"{ROOT}/pids.max")
_PIDS_NOW = (f"{ROOT}/pids/pids.current", f"{ROOT}/pids.current")
_MEMORY_MAX = (f"{ROOT}/memory/memory.limit_in_bytes", f"{ROOT}/memory.max")
_OOM_KILLS = (f"{ROOT}/memory/memory.oom_control", f"{ROOT}/memory.events")
_CROWDED = 0.9
"""Share of the process limit from which a box counts as full."""


def pids_limit() -> int | None:
    """Return how many processes the box may have; None without a limit."""
    return _number(_PIDS_MAX)


def memory_limit() -> int | None:
    """Return how many bytes of memory the box may have; None without a limit."""
    return _number(_MEMORY_MAX)


def is_crowded() -> bool:
    """True where the box has nearly all the processes that it may have."""
    limit, now = pids_limit(), _number(_PIDS_NOW)
    return limit is not None and now is not None and now >= limit * _CROWDED


def oom_kills() -> int:
    """Return how often the kernel ended a process of the box for want of memory."""
    for line in _text(_OOM_KILLS).splitlines():
        name, _, value = line.partition(" ")
        if name == "oom_kill" and value.isdigit():
            return int(value)
    return 0


def _number(paths: tuple[str, ...]) -> int | None:
    text = _text(paths).strip()
    return int(text) if text.isdigit() else None


def _text(paths: tuple[str, ...]) -> str:
    for path in paths:
        try:
            with open(path, encoding="ascii") as file:
                return file.read()
        except OSError:
            continue
    return ""
