"""What ends a command that takes more than the session's share of processes or disk."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import cgroup
import tree
from disk import FLOOR_SHARE, DiskUse
from verdict import UNMEASURED, Use, disk_words, files_words, shown_size, use_of
from worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from loop import Loop
    from running import Running

TICK = 0.2
"""Seconds between looks while a command runs; a budget is enforced within about five of them."""
CROWDED_TICKS = 2
"""Looks in a row that must find the box full: a build may fill it for a moment."""
STEP = 32 * 1024 * 1024
"""A box over its budget may still run commands, such as ``rm``, that write less than this."""
FILES_STEP = 1000
"""The same for files."""
CLEARING_ROUNDS = 5
FLOOR_SECONDS = 5.0
"""Between exact looks at a disk that others may have filled."""

STRAY_SECONDS = 1.0
"""Between looks whether anything of ended commands still runs."""


class Watch:
    """Looks only while something of a command runs, so that an idle box uses no processor."""

    def __init__(self, loop: Loop, config: Config, running: Callable[[], list[Running]]) -> None:
        self._loop = loop
        self._config = config
        self._running = running
        self._disk = DiskUse(config)
        self._allowed = config.limits.disk
        self._files_allowed = config.limits.files
        self._timer = 0
        self._crowded = 0
        self._failed_forks = cgroup.failed_forks()
        self._measuring = False
        self._held: set[int] = set()
        self._weighing = False
        self._floor_next = 0.0
        self._floor_before = 0
        self._strays = False
        self._strays_next = 0.0

    def wake(self) -> None:
        """Begin to look; to be called whenever a command starts."""
        self._relent()
        if not self._timer:
            self._timer = self._loop.after(TICK, self._look)

    def make_room(self) -> None:
        """End the command that holds most processes; what is left of it after that, all of them.

        Called where a process is needed and none can be had, so it starts none itself.
        """
        mark = tree.largest_mark(tree.processes())
        if mark is not None:
            self._end_crowd(mark)
        if cgroup.is_crowded():
            for command in self._running():
                command.end("pids", at_once=True)
            tree.end_everything()
            self._loop.reap()

    def _end_crowd(self, mark: int) -> None:
        for command in self._running():
            if command.mark == mark:
                command.end("pids", at_once=True)
        for _ in range(CLEARING_ROUNDS):
            crowd = [process.pid for process in tree.processes() if process.mark == mark]
            if not crowd:
                break
            tree.send(crowd, signal.SIGKILL)
            # The dead count until they are collected.
            self._loop.reap()

    def _look(self) -> None:
        self._timer = 0
        if not self._running() and not self._left_behind():
            return
        self.wake()
        self._look_at_processes()
        if self._measuring:
            # What was forked while the others were held.
            self._hold()
        else:
            self._look_at_disk()

    def _left_behind(self) -> bool:
        """Say whether ended commands left something that runs on; it can fill a disk as well."""
        now = time.monotonic()
        if not self._strays or now >= self._strays_next:
            self._strays = bool(tree.commands(tree.processes()))
            self._strays_next = now + STRAY_SECONDS
        return self._strays

    def _look_at_processes(self) -> None:
        failed = cgroup.failed_forks()
        # A bomb at its limit comes and goes; that processes are refused stays.
        crowded = failed > self._failed_forks or cgroup.is_crowded()
        self._failed_forks = failed
        self._crowded = self._crowded + 1 if crowded else 0
        if self._crowded >= CROWDED_TICKS:
            self._crowded = 0
            self.make_room()

    def _look_at_disk(self) -> None:
        self._relent()
        suspected, own = self._disk.suspected_bytes(), self._disk.own_bytes()
        limits = self._config.limits
        if own > self._allowed:
            self._over_disk(own, f"{shown_size(own)} of {shown_size(limits.disk)}")
        elif (
            suspected > self._allowed
            or self._disk.suspected_files() > self._files_allowed
            or self._floor_is_due()
        ):
            self._measure()
        elif suspected > STEP and not self._disk.home_is_known and not self._weighing:
            self._weigh_home()

    def _relent(self) -> None:
        """Go back to the limits themselves once the box was emptied below them."""
        limits = self._config.limits
        if self._allowed != limits.disk and self._disk.suspected_bytes() <= limits.disk:
            self._allowed = limits.disk
        if self._files_allowed != limits.files and self._disk.suspected_files() <= limits.files:
            self._files_allowed = limits.files

    def _floor_is_due(self) -> bool:
        if not self._disk.floor_reached() or time.monotonic() < self._floor_next:
            return False
        self._floor_next = time.monotonic() + FLOOR_SECONDS
        return True

    def _weigh_home(self) -> None:
        """Find out what the home held; only in a session that writes, and nothing waits for it."""
        self._weighing = True

        def weighed(answer: dict[str, Any]) -> None:
            self._weighing = False
            if not isinstance(answer.get("size"), int):
                self._measure()
            else:
                # What cannot be counted may be all that a home may hold.
                closed = bool(answer["unsure"])
                held = self._config.limits.disk if closed else answer["before"]
                self._disk.count_home(held, assumed=closed)

        try:
            Worker(self._loop, self._config, 0).start(self._disk.measure_home, weighed)
        except BlockingIOError:
            self._weighing = False

    def _hold(self) -> None:
        held = {pid for command in self._running() for pid in command.members()}
        held.update(tree.commands(tree.processes()))
        tree.send(sorted(held), signal.SIGSTOP)
        self._held |= held

    def _release(self) -> None:
        tree.send(sorted(self._held), signal.SIGCONT)
        self._held.clear()

    def _measure(self) -> None:
        """Hold all commands while it is found out who wrote: a walk may take longer than a disk."""
        if self._measuring:
            return
        self._measuring = True
        self._hold()

        def measured(answer: dict[str, Any]) -> None:
            self._measuring = False
            self._judge(answer)
            self._release()

        try:
            Worker(self._loop, self._config, 0).start(self._disk.measure, measured)
        except BlockingIOError:
            self._measuring = False
            self.make_room()
            self._release()

    def _judge(self, answer: dict[str, Any]) -> None:
        own = self._disk.own_bytes()
        suspected = self._disk.suspected_bytes() - own
        if not self._disk.home_is_known:
            suspected += answer.get("before", 0)
        use = use_of(answer, suspected=suspected, suspected_files=self._disk.suspected_files())
        if use is None:
            # Nobody can say that it was not them.
            self._over_disk(self._disk.suspected_bytes(), UNMEASURED)
            return
        self._judge_use(use, own)
        if not use.unsure:
            self._disk.settle(use.counted, use.files)

    def _judge_use(self, use: Use, own: int) -> None:
        limits = self._config.limits
        grown = use.size - self._floor_before > FLOOR_SHARE
        if use.size + own > self._allowed or (grown and self._disk.floor_reached()):
            self._floor_before = use.size
            words = disk_words(use, own=own, budget=limits.disk, assumed=self._disk.home_assumed)
            self._over_disk(use.size + own, words)
        elif use.names > self._files_allowed:
            self._files_allowed = max(limits.files, use.names) + FILES_STEP
            self._end_all("files", files_words(use, limit=limits.files))

    def _over_disk(self, total: int, note: str) -> None:
        self._allowed = max(self._config.limits.disk, total) + STEP
        self._end_all("disk", note)

    def _end_all(self, limit: str, note: str) -> None:
        for command in self._running():
            command.end(limit, at_once=True, note=note)
        tree.send(tree.commands(tree.processes()), signal.SIGKILL)
