"""What ends a command that takes more than the session's share of processes or disk."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import cgroup
import tree
from budget import Budget, Found
from disk import FLOOR_SHARE, FLOOR_WORDS, DiskUse
from verdict import UNMEASURED, disk_words, files_words, shown_size, use_of
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
HOME_STEP = 32 * 1024 * 1024
"""Bytes written after which it is looked up what the home held before."""
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
        self.budget = Budget(config.limits)
        self._queued: list[Callable[[], None]] = []
        self._counted_for: list[Callable[[], None]] = []
        self._timer = 0
        self._crowded = 0
        self._failed_forks = cgroup.failed_forks()
        self._measuring = False
        self._held: set[int] = set()
        self._weighing = False
        self._floor_next = 0.0
        self._strays = False
        self._strays_next = 0.0

    def wake(self) -> None:
        """Begin to look; to be called whenever a command starts."""
        if not self._timer:
            self._timer = self._loop.after(TICK, self._look)

    def when_counted(self, act: Callable[[], None], *, writes: bool = False) -> None:
        """Call ``act`` when ``budget`` holds: at once, or after an exact count in a full session.

        ``writes`` says that no command does it, so that no other look would follow.
        """
        if self.budget.full or (writes and self._is_suspicious()):
            self._queued.append(act)
            self._measure()
        else:
            act()

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
        own = self._disk.own_bytes()
        if own > self.budget.bytes_allowed:
            budget = shown_size(self._config.limits.disk)
            words = f"{shown_size(own)} of {budget} in memory, such as in /tmp"
            self._take(Found(own, 0, words))
        elif self._is_beyond() or self._floor_is_due():
            self._measure()
        elif self._home_is_due() and not self._weighing:
            self._weigh_home()

    def _is_beyond(self) -> bool:
        return (
            self._disk.suspected_bytes() > self.budget.bytes_allowed
            or self._disk.suspected_files() > self.budget.names_allowed
        )

    def _home_is_due(self) -> bool:
        return not self._disk.home_is_known and self._disk.suspected_bytes() > HOME_STEP

    def _is_suspicious(self) -> bool:
        return self._is_beyond() or self._home_is_due() or self._floor_is_due()

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
        # What ended after this count began is not in it, so who asks meanwhile gets another.
        self._counted_for, self._queued = self._queued, []
        self._hold()

        def measured(answer: dict[str, Any]) -> None:
            self._measuring = False
            self._judge(answer)
            self._release()
            self._go_on()

        try:
            Worker(self._loop, self._config, 0).start(self._disk.measure, measured)
        except BlockingIOError:
            self._measuring = False
            self.make_room()
            self._release()
            self._queued = self._counted_for + self._queued
            self._counted_for = []
            if self._queued:
                self._loop.after(TICK, self._measure)

    def _go_on(self) -> None:
        """Let those act who waited for the count."""
        ready, self._counted_for = self._counted_for, []
        for act in ready:
            act()
        if self._queued:
            self._measure()

    def _judge(self, answer: dict[str, Any]) -> None:
        limits = self._config.limits
        own = self._disk.own_bytes()
        suspected = self._disk.suspected_bytes() - own
        if not self._disk.home_is_known:
            suspected += answer.get("before", 0)
        use = use_of(answer, suspected=suspected, suspected_files=self._disk.suspected_files())
        if use is None:
            # Nobody can say that it was not them.
            size = max(self._disk.suspected_bytes(), limits.disk + 1)
            self._take(Found(size, 0, UNMEASURED, unsure=True))
            return
        low = use.size > FLOOR_SHARE and self._disk.floor_reached()
        words = disk_words(use, own=own, budget=limits.disk, assumed=self._disk.home_assumed)
        self._take(
            Found(
                use.size + own,
                use.names,
                f"{words}; {FLOOR_WORDS}" if low else words,
                files_words=files_words(use, limit=limits.files),
                low=low,
                unsure=bool(use.unsure),
            )
        )
        if not use.unsure:
            self._disk.settle(use.counted, use.files)

    def _take(self, found: Found) -> None:
        limit = self.budget.take(found)
        if limit is None:
            return
        for command in self._running():
            command.end(limit, at_once=True, note=self.budget.advice)
        tree.send(tree.commands(tree.processes()), signal.SIGKILL)
