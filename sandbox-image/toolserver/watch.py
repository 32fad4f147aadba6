"""What ends a command that takes more than the session's share of processes or disk."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import cgroup
import tree
from disk import FLOOR_SHARE, DiskUse
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
        self._timer = 0
        self._crowded = 0
        self._failed_forks = cgroup.failed_forks()
        self._measuring = False
        self._floor_next = 0.0
        self._floor_before = 0
        self._strays = False
        self._strays_next = 0.0

    def wake(self) -> None:
        """Begin to look; to be called whenever a command starts."""
        if self._allowed != self._config.limits.disk:
            self._relent(self._disk.suspected_bytes())
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
        if not self._measuring:
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
        suspected = self._disk.suspected_bytes()
        self._relent(suspected)
        if self._disk.own_bytes() > self._allowed:
            self._over(self._disk.own_bytes())
        elif suspected > self._allowed or self._floor_is_due():
            self._measure()

    def _relent(self, suspected: int) -> None:
        """Go back to the budget itself once the box was emptied below it."""
        if suspected <= self._config.limits.disk:
            self._allowed = self._config.limits.disk

    def _floor_is_due(self) -> bool:
        if not self._disk.floor_reached() or time.monotonic() < self._floor_next:
            return False
        self._floor_next = time.monotonic() + FLOOR_SECONDS
        return True

    def _measure(self) -> None:
        """Hold all commands while it is found out who wrote: a walk may take longer than a disk."""
        held = [pid for command in self._running() for pid in command.members()]
        held += tree.commands(tree.processes())
        tree.send(held, signal.SIGSTOP)
        self._measuring = True

        def measured(answer: dict[str, Any]) -> None:
            self._measuring = False
            size = answer.get("size")
            if isinstance(size, int):
                self._judge(size)
            else:
                # Nobody can say that it was not them.
                self._over(self._disk.suspected_bytes())
            tree.send(held, signal.SIGCONT)

        worker = Worker(self._loop, self._config, 0)
        try:
            worker.start(lambda: {"size": self._disk.measure()}, measured)
        except BlockingIOError:
            self._measuring = False
            self.make_room()
            tree.send(held, signal.SIGCONT)

    def _judge(self, on_shared: int) -> None:
        total = on_shared + self._disk.own_bytes()
        grown = on_shared - self._floor_before > FLOOR_SHARE
        if total > self._allowed or (grown and self._disk.floor_reached()):
            self._floor_before = on_shared
            self._over(total)
        self._disk.settle(on_shared)

    def _over(self, total: int) -> None:
        self._allowed = max(self._config.limits.disk, total) + STEP
        for command in self._running():
            command.end("disk", at_once=True)
        tree.send(tree.commands(tree.processes()), signal.SIGKILL)
