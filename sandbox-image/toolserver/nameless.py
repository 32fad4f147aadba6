"""Counts files without a name that processes of the box keep alive; loaded in workers.

A deleted file lives on as an open descriptor, as a running program, as a mapping, or as a
descriptor under way in a Unix socket. The first two can be counted; of the others, and of a
process that shows nothing, it is only noted that they are there.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from typing import TYPE_CHECKING

import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from census import Census

_DELETED = b" (deleted)"
_PATIENCE = 3
"""Looks at a process that shows nothing: one that ends does so for a moment."""
_PAUSE = 0.02


def count(census: Census, devices: set[int], *, proc: str) -> None:
    """Add the nameless files on these devices to the census, and what cannot be told."""
    _Look(census, devices, proc).everywhere()


class _Look:
    def __init__(self, census: Census, devices: set[int], proc: str) -> None:
        self._census = census
        self._devices = devices
        self._proc = proc
        self._in_memory = _memory_devices()
        self._watched_mounts = _mounts_of(devices)
        self._unix = _unix_sockets(proc)
        self._tells = _tells_descriptors()

    def everywhere(self) -> None:
        if 0 in self._unix:
            # A connection that nobody accepted yet: what was sent over it is in no table.
            self._census.doubt("a Unix socket with a waiting connection")
        for name in os.listdir(self._proc):
            if name.isdigit() and _is_of_box(f"{self._proc}/{name}"):
                self._process(name)

    def _process(self, pid: str) -> None:
        for _ in range(_PATIENCE):
            try:
                threads = os.listdir(f"{self._proc}/{pid}/task")
                for thread in threads:
                    # A thread may have a table of files of its own.
                    self._thread(pid, f"{self._proc}/{pid}/task/{thread}")
            except (FileNotFoundError, ProcessLookupError):
                return
            except OSError:
                time.sleep(_PAUSE)
            else:
                return
        self._census.doubt(f"process {pid}")

    def _thread(self, pid: str, folder: str) -> None:
        try:
            if _has_ended(folder):
                return
            self._files(pid, folder)
            self._mappings(pid, folder)
        except (FileNotFoundError, ProcessLookupError):
            return
        except OSError:
            if not _has_ended(folder):
                raise

    def _files(self, pid: str, folder: str) -> None:
        self._file(f"{folder}/exe", "")
        for number in os.listdir(f"{folder}/fd"):
            status = self._file(f"{folder}/fd/{number}", f"{folder}/fdinfo/{number}")
            if status is not None and stat.S_ISSOCK(status.st_mode):
                self._socket(pid, status.st_ino, f"{folder}/fdinfo/{number}")

    def _file(self, path: str, info: str) -> os.stat_result | None:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return None
        if status.st_nlink == 0 and (status.st_dev in self._devices or self._is_watched(info)):
            self._census.add(status)
        return status

    def _is_watched(self, info: str) -> bool:
        """Say whether an open file is on a watched mount; an overlay's may show another device."""
        return _field(info, b"mnt_id:") in self._watched_mounts if info else False

    def _socket(self, pid: str, inode: int, info: str) -> None:
        under_way = _field(info, b"scm_fds:")
        if under_way or (not self._tells and inode in self._unix):
            self._census.doubt(f"a Unix socket of process {pid}")

    def _mappings(self, pid: str, folder: str) -> None:
        with open(f"{folder}/maps", "rb") as file:
            for line in file:
                if line.rstrip(b"\n").endswith(_DELETED):
                    device = line.split(maxsplit=4)[3]
                    if device not in self._in_memory:
                        self._census.doubt(f"a deleted file mapped by process {pid}")
                        return


def _is_of_box(folder: str) -> bool:
    """Say whether a process is a command's: not the server, not a worker of it."""
    try:
        with open(f"{folder}/status", "rb") as file:
            real = next(line for line in file if line.startswith(b"Uid:")).split()[1]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(real) == os.geteuid() and not _is_worker(folder)


def _is_worker(folder: str) -> bool:
    try:
        with open(f"{folder}/limits", "rb") as file:
            mark = tree.mark_of(file.read())
    except (FileNotFoundError, ProcessLookupError):
        return False
    return mark is not None and mark >= tree.FIRST_MARK


def _has_ended(folder: str) -> bool:
    try:
        with open(f"{folder}/stat", "rb") as file:
            state = file.read(4096).rpartition(b")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in {b"Z", b"X"}


def _field(path: str, name: bytes) -> int:
    try:
        with open(path, "rb") as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1])
    except FileNotFoundError:
        return 0
    return 0


def _memory_devices() -> set[bytes]:
    """Return the devices, as maps show them, of files that are memory and count as that."""
    devices = {f"{major:02x}:{minor:02x}".encode() for _, major, minor in _mounts(b"tmpfs")}
    # The kernel's own, of shared anonymous memory.
    memory = os.memfd_create("device")
    number = os.fstat(memory).st_dev
    os.close(memory)
    return {*devices, f"{os.major(number):02x}:{os.minor(number):02x}".encode()}


def _mounts_of(devices: set[int]) -> set[int]:
    return {mount for mount, major, minor in _mounts() if os.makedev(major, minor) in devices}


def _mounts(kind: bytes = b"") -> Iterator[tuple[int, int, int]]:
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            before, _, after = line.partition(b" - ")
            if not kind or after.split()[0] == kind:
                fields = before.split()
                major, _, minor = fields[2].partition(b":")
                yield int(fields[0]), int(major), int(minor)


def _unix_sockets(proc: str) -> set[int]:
    """Return the inodes of all Unix sockets; 0 among them for one that nobody has accepted."""
    with open(f"{proc}/net/unix", "rb") as file:
        next(file)
        return {int(line.split()[6]) for line in file}


def _tells_descriptors() -> bool:
    """Say whether the kernel tells how many descriptors are under way (Linux 5.6 and later)."""
    first, second = socket.socketpair()
    with first, second, open(f"/proc/self/fdinfo/{first.fileno()}", "rb") as file:
        return b"scm_fds:" in file.read()
