"""The limits that the kernel holds for this box, and whether they were hit; cgroup v1 or v2."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = "/sys/fs/cgroup"

_PIDS_MAX = (f"{ROOT}/pids/pids.max", f"{ROOT}/pids.max")
_PIDS_NOW = (f"{ROOT}/pids/pids.current", f"{ROOT}/pids.current")
_FAILED_FORKS = (f"{ROOT}/pids/pids.events", f"{ROOT}/pids.events")
_MEMORY_MAX = (f"{ROOT}/memory/memory.limit_in_bytes", f"{ROOT}/memory.max")
_OOM_KILLS = (f"{ROOT}/memory/memory.oom_control", f"{ROOT}/memory.events")
_CPU_QUOTA = (f"{ROOT}/cpu/cpu.cfs_quota_us", f"{ROOT}/cpu,cpuacct/cpu.cfs_quota_us")
_CPU_PERIOD = (f"{ROOT}/cpu/cpu.cfs_period_us", f"{ROOT}/cpu,cpuacct/cpu.cfs_period_us")
_CPU_MAX = (f"{ROOT}/cpu.max",)
STALE_SECONDS = 0.05
_CROWDED = 0.9
"""Share of the process limit from which a box counts as full."""


def pids_limit() -> int | None:
    """Return how many processes the box may have; None without a limit."""
    return _number(_PIDS_MAX)


def memory_limit() -> int | None:
    """Return how many bytes of memory the box may have; None without a limit."""
    return _number(_MEMORY_MAX)


def cpu_limit() -> float | None:
    """Return how many processors' time the box may use; None without a limit."""
    quota, _, period = _text(_CPU_MAX).strip().partition(" ")
    if not quota:
        quota, period = _text(_CPU_QUOTA).strip(), _text(_CPU_PERIOD).strip()
    if quota.isdigit() and period.isdigit() and int(period) > 0:
        return int(quota) / int(period)
    return None


def changeable() -> list[str]:
    """Return the files of limits that this process may write; a command should find none."""
    files = (*_PIDS_MAX, *_MEMORY_MAX, *_CPU_QUOTA, *_CPU_MAX)
    return [path for path in files if os.access(path, os.W_OK)]


def is_crowded() -> bool:
    """True where the box has nearly all the processes that it may have."""
    limit, now = pids_limit(), _number(_PIDS_NOW)
    return limit is not None and now is not None and now >= limit * _CROWDED


def oom_kills() -> int:
    """Return how often the kernel ended a process of the box for want of memory."""
    return _counted(_OOM_KILLS, "oom_kill")


def failed_forks() -> int:
    """Return how often a process of the box could not be made for the limit on them."""
    return _counted(_FAILED_FORKS, "max")


class Counter:
    """A kernel's counter, read no more often than it pays."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read
        self._count = 0
        self._when = -STALE_SECONDS

    def recent(self) -> int:
        """Return a count that may be a moment old: reading it costs a tenth of a short command."""
        if time.monotonic() - self._when > STALE_SECONDS:
            return self.current()
        return self._count

    def current(self) -> int:
        """Return the count as it is now."""
        self._count, self._when = self._read(), time.monotonic()
        return self._count


def _counted(paths: tuple[str, ...], wanted: str) -> int:
    for line in _text(paths).splitlines():
        name, _, value = line.partition(" ")
        if name == wanted and value.isdigit():
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
