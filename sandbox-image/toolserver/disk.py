"""How much the session has written, without a quota: cheaply each tick, exactly when in doubt."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config import Config

FREE_FLOOR = 256 * 1024 * 1024
"""Bytes that must stay free on a file system shared with the host."""
FLOOR_SHARE = 64 * 1024 * 1024
"""What the box must have written before a low floor counts as its doing."""
CLOCK_STEP = 0.1
"""Seconds that a file system's clock may be behind."""
_BLOCK = 512


class Place(NamedTuple):
    """One writable file system."""

    path: str
    device: int
    own: bool
    """True for a tmpfs, which nothing but this box fills."""


class DiskUse:
    """Knows how much was written below the writable mounts since the session began."""

    def __init__(self, config: Config, *, proc: str = "/proc") -> None:
        """``proc`` shows the processes whose deleted files count."""
        self._proc = proc
        self._began = time.time()
        self.places = _places(config.writable)
        self._free_before = {place.device: _free(place.path) for place in self.places}

    def own_bytes(self) -> int:
        """Return what the tmpfs mounts hold: exact, and cheap."""
        return sum(_used(place.path) for place in self.places if place.own)

    def suspected_bytes(self) -> int:
        """Return at least what the box wrote, and what others wrote to the same file systems."""
        total = self.own_bytes()
        for place in self.places:
            if not place.own:
                total += max(0, self._free_before[place.device] - _free(place.path))
        return total

    def floor_reached(self) -> bool:
        """True where a file system shared with the host is nearly full."""
        return any(_free(place.path) < FREE_FLOOR for place in self.places if not place.own)

    def settle(self, measured: int) -> None:
        """Move the base lines so that suspicion begins again at what was measured on disk."""
        shared = {place.device: place.path for place in self.places if not place.own}
        for device, path in shared.items():
            self._free_before[device] = _free(path) + measured // len(shared)

    def measure(self) -> int:
        """Return what the box keeps on shared file systems; run it in a worker, as the command.

        Counts what changed since the session began, deleted files that are still open included.
        """
        roots = [place.path for place in self.places if not place.own]
        seen: set[tuple[int, int]] = set()
        total = 0
        changed = _changed_below(roots, self._began)
        for status in (*changed, *_open_but_deleted(self._devices(), self._proc)):
            key = (status.st_dev, status.st_ino)
            if status.st_nlink != 1:
                if key in seen:
                    continue
                seen.add(key)
            total += status.st_blocks * _BLOCK
        return total

    def _devices(self) -> set[int]:
        return {place.device for place in self.places if not place.own}


def _places(paths: tuple[str, ...]) -> list[Place]:
    own = _tmpfs_mounts()
    found: dict[int, Place] = {}
    for path in paths:
        device = os.stat(path).st_dev
        found.setdefault(device, Place(path, device, path in own))
    return list(found.values())


def _tmpfs_mounts() -> set[str]:
    mounts = set()
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            if after.startswith("tmpfs "):
                mounts.add(before.split()[4])
    return mounts


def _free(path: str) -> int:
    found = os.statvfs(path)
    return found.f_bfree * found.f_frsize


def _used(path: str) -> int:
    found = os.statvfs(path)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _changed_below(roots: list[str], since: float) -> Iterator[os.stat_result]:
    queue = list(roots)
    while queue:
        try:
            with os.scandir(queue.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
                    status = entry.stat(follow_symlinks=False)
                    # The change time cannot be set by a command.
                    if status.st_ctime >= since - CLOCK_STEP and stat.S_ISREG(status.st_mode):
                        yield status
        except OSError:
            # Unreadable to the command, or gone meanwhile: the free space still tells of it.
            continue


def _open_but_deleted(devices: set[int], proc: str) -> Iterator[os.stat_result]:
    for name in os.listdir(proc):
        if not name.isdigit():
            continue
        try:
            numbers = os.listdir(f"{proc}/{name}/fd")
        except OSError:
            continue
        for number in numbers:
            try:
                status = os.stat(f"{proc}/{name}/fd/{number}")
            except OSError:
                continue
            if status.st_nlink == 0 and status.st_dev in devices:
                yield status
