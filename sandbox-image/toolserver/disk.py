"""How much the session has written, without a quota: cheaply each tick, exactly when in doubt."""

from __future__ import annotations

import importlib
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from config import Config

FREE_FLOOR = 256 * 1024 * 1024
"""Bytes that must stay free on a file system shared with the host."""
FLOOR_WORDS = "less than 256 MiB is free on the host's disk"
FLOOR_SHARE = 64 * 1024 * 1024
"""What the box must have written before a low floor counts as its doing."""


class Place(NamedTuple):
    """One writable mount."""

    path: str
    device: int
    own: bool
    """True for a tmpfs, which nothing but this box fills."""


class Store(NamedTuple):
    """A file system below one or more places."""

    path: str
    size: tuple[int, int, int]
    """What tells it from others: two mounts of one file system show the same free space."""


class DiskUse:
    """Knows how much was written below the writable mounts since the session began.

    What a home kept from earlier sessions counts as well.
    """

    def __init__(self, config: Config, *, proc: str = "/proc") -> None:
        """``proc`` shows the processes whose deleted files count."""
        self._proc = proc
        self._began = time.time()
        self._workdir = config.workdir
        self.places = _places(config.writable)
        shared = [place for place in self.places if not place.own]
        self._home = next((place.path for place in shared if place.path == config.home), None)
        self.home_is_known = self._home is None
        self.home_assumed = 0
        """Bytes that the home counts for although it could not be looked into."""
        self._stores = _stores(shared)
        self._free_before = {store: _free(store.path) for store in self._stores}
        self._files_in = next((place.path for place in shared if place.path == config.workdir), "")
        self._free_files = _free_files(self._files_in)

    def own_bytes(self) -> int:
        """Return what the tmpfs mounts hold: exact, and cheap."""
        return sum(_used(place.path) for place in self.places if place.own)

    def suspected_bytes(self) -> int:
        """Return at least what the box wrote, and what others wrote to the same file systems."""
        total = self.own_bytes()
        for store in self._stores:
            total += max(0, self._free_before[store] - _free(store.path))
        return total

    def suspected_files(self) -> int:
        """Return how many files were made where the workspace is, by the box and by others.

        Always 0 on a file system that does not count its free inodes, such as btrfs.
        """
        return max(0, self._free_files - _free_files(self._files_in))

    def floor_reached(self) -> bool:
        """True where a file system shared with the host is nearly full."""
        return any(_free(store.path) < FREE_FLOOR for store in self._stores)

    def settle(self, measured: int, files: int) -> None:
        """Move the base lines so that suspicion begins again at what was measured on disk."""
        for store in self._stores:
            self._free_before[store] = _free(store.path) + measured // len(self._stores)
        self._free_files = _free_files(self._files_in) + files
        self.home_is_known = True
        self.home_assumed = 0

    def count_home(self, held: int, *, assumed: bool = False) -> None:
        """Let what the home held when the session began count as if it was written since."""
        if not self.home_is_known:
            self.home_is_known = True
            self.home_assumed = held if assumed else 0
            self._free_before[self._stores[0]] += held

    def measure(self) -> dict[str, Any]:
        """Return what the box keeps on shared file systems; run it in a worker, as the command.

        See ``census.Census.answer``: ``unsure`` names what could not be looked into, so that
        without such names the count is all there is.
        """
        census = importlib.import_module("census").Census(self._began, self._own_devices())
        for root in self._roots():
            in_workdir = self._workdir == root
            census.count_tree(root, every=root == self._home, as_files=in_workdir)
        devices = {place.device for place in self.places if not place.own}
        importlib.import_module("nameless").count(census, devices, proc=self._proc)
        answer: dict[str, Any] = census.answer()
        return answer

    def measure_home(self) -> dict[str, Any]:
        """Return what the home holds from before the session; run it as ``measure``."""
        census = importlib.import_module("census").Census(self._began, self._own_devices())
        census.count_tree(self._home, every=True, as_files=False)
        answer: dict[str, Any] = census.answer()
        return answer

    def _own_devices(self) -> set[int]:
        return {place.device for place in self.places if place.own}

    def _roots(self) -> list[str]:
        """Return the shared places that are not within another one."""
        paths = [place.path for place in self.places if not place.own]
        return [
            path
            for path in paths
            if not any(path != other and path.startswith(f"{other}/") for other in paths)
        ]


def _places(paths: tuple[str, ...]) -> list[Place]:
    own = _tmpfs_mounts()
    found: dict[tuple[int, int], Place] = {}
    for path in paths:
        status = os.stat(path)
        found.setdefault(
            (status.st_dev, status.st_ino), Place(path, status.st_dev, own=path in own)
        )
    return list(found.values())


def _stores(shared: list[Place]) -> list[Store]:
    found: dict[tuple[int, int, int], Store] = {}
    for place in shared:
        seen = os.statvfs(place.path)
        # One that somebody writes to right now may be taken for two: then too much is suspected.
        size = (seen.f_blocks, seen.f_frsize, seen.f_bfree)
        found.setdefault(size, Store(place.path, size))
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


def _free_files(path: str) -> int:
    return os.statvfs(path).f_ffree if path else 0


def _used(path: str) -> int:
    found = os.statvfs(path)
    return (found.f_blocks - found.f_bfree) * found.f_frsize
