"""Which processes belong to a command, whatever they did to hide, and how they are ended.

Every command carries a mark that children inherit through fork, exec and setsid: the hard limit of
realtime CPU time, which means nothing to a process without realtime scheduling, can be read of any
process, and can be lowered but never raised. Marks go down with each command, so a forged one lies
below every mark given out and is taken for a member of whatever is being ended. Workers of the
server have marks from ``FIRST_MARK`` up, so that they are nobody's members. Descent and session are
looked at too, for runtimes that do not show limits.
"""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

FIRST_MARK = 1 << 40
"""Microseconds; twelve days of realtime CPU."""

LAST_WAIT = 2
"""Seconds."""

_LIMIT_NAME = b"Max realtime timeout"
_THREADS = 17
"""Place of the number of threads in ``/proc/PID/stat``, counted from the state."""


class Process(NamedTuple):
    """One running process of the box."""

    pid: int
    parent: int
    session: int
    mark: int | None
    """None for processes that are no command's."""


def processes() -> list[Process]:
    """Return every process but the zombies."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = _read(int(name))
            if process is not None:
                found.append(process)
    return found


def members(root: int, mark: int, *, lowest: int, among: list[Process]) -> list[int]:
    """Return the pids of the command whose first process is ``root``."""
    children: dict[int, list[int]] = {}
    belong = set()
    for process in among:
        children.setdefault(process.parent, []).append(process.pid)
        marked = process.mark is not None and (process.mark == mark or process.mark < lowest)
        if marked or root in {process.session, process.pid}:
            belong.add(process.pid)
    queue = list(belong)
    while queue:
        for pid in children.get(queue.pop(), ()):
            if pid not in belong:
                belong.add(pid)
                queue.append(pid)
    return sorted(belong - {1, os.getpid()})


def commands(among: list[Process]) -> list[int]:
    """Return the pids of everything that any command started, those of ended ones too."""
    return [item.pid for item in among if item.mark is not None and item.mark < FIRST_MARK]


def largest_mark(among: list[Process]) -> int | None:
    """Return the mark that most processes carry."""
    counts: dict[int, int] = {}
    for process in among:
        if process.mark is not None:
            counts[process.mark] = counts.get(process.mark, 0) + 1
    return max(counts, key=lambda mark: counts[mark]) if counts else None


def mark_of(limits: bytes) -> int | None:
    """Return the mark in the text of ``/proc/PID/limits``."""
    for line in limits.splitlines():
        if line.startswith(_LIMIT_NAME):
            hard = line.split()[-2]
            return int(hard) if hard.isdigit() else None
    return None


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal each process that is still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def end_everything() -> None:
    """Kill every process but the server and the init; needs no new process to do it."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return


def outlive_everything() -> None:
    """Return when every killed process is gone, so that none writes any more.

    All of the box's processes are the server's children or become it, as it is a subreaper.
    """
    # One that the kernel cannot end now must not keep the server: the alarm ends it then.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LAST_WAIT)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _read(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # The name in parentheses may hold anything, so fields are counted from its end.
            fields = file.read(4096).rpartition(b")")[2].split()
        with open(f"/proc/{pid}/limits", "rb", buffering=0) as file:
            limits = file.read(8192)
    except (FileNotFoundError, ProcessLookupError):
        return None
    # One whose first thread alone has ended shows as a zombie, and runs on.
    if len(fields) <= _THREADS or (fields[0] in {b"Z", b"X"} and int(fields[_THREADS]) <= 1):
        return None
    return Process(pid, int(fields[1]), int(fields[3]), mark_of(limits))
