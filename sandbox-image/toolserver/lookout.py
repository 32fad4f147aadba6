"""A call that looks at a process: waits for a pattern, its end or a time, then says what it saw.

A pattern is matched against single lines as a person would read them, without terminal control.
Plain text is looked for here; any other pattern may take for ever on some output, so it is matched
by a worker that can be killed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from frames import OUTPUT
from worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from background import Background
    from config import Config
    from link import Link
    from loop import Loop

MAX_WAIT = 86_400.0
"""Seconds."""
MAX_SHOWN = 100_000
"""Bytes of output in one answer."""
MAX_PATTERN = 1000
LOOKED_BACK = 8192
"""Bytes of an unfinished line that are looked at again when it grows."""
MATCH_SECONDS = 1.0
PAUSE = 0.1
"""Seconds between two workers for one pattern."""
_SPECIAL = frozenset(r"\.^$*+?{}[]|()")


class Look:
    """What a call wants to see, as the host asked."""

    def __init__(self, look: dict[str, Any], credit: int) -> None:
        """Take the fields apart; KeyError, TypeError or ValueError for a request that lacks one."""
        self.wait = min(max(float(look["wait_s"]), 0.0), MAX_WAIT)
        self.most = min(max(int(look["max_bytes"]), 1), MAX_SHOWN)
        quiet = look.get("quiet_s")
        self.quiet = None if quiet is None else max(float(quiet), 0.0)
        since, pattern = look.get("since"), look.get("pattern")
        self.since = None if since is None else max(int(since), 0)
        self.pattern = None if pattern is None else str(pattern)[:MAX_PATTERN]
        self.credit = credit


class Lookout:
    """Waits from ``start`` until ``on_end`` is called with the answer's data, or ``stop``."""

    def __init__(
        self, loop: Loop, config: Config, *, process: Background, look: Look, call: int
    ) -> None:
        self._loop = loop
        self._config = config
        self._process = process
        self._look = look
        self._call = call
        self._from = process.shown if look.since is None else look.since
        self._searched = self._streamed = self._from
        self._timers: list[int] = []
        self._worker: Worker | None = None
        self._paused = False
        self._quiet_timer: int | None = None
        self._heard = process.ring.end
        self._done = False

    def start(self, link: Link, on_end: Callable[[int, dict[str, Any]], None]) -> None:
        """Begin to look."""
        self._link = link
        self._on_end = on_end
        self._process.on_change.append(self._changed)
        self._timers.append(self._loop.after(self._look.wait, lambda: self.stop("time")))
        self._changed()

    def credit(self, count: int) -> None:
        """Let the host take ``count`` more bytes."""
        self._look.credit += count
        self._stream()

    def stop(self, why: str) -> None:
        """Answer with what there is."""
        if self._done:
            return
        self._done = True
        self._process.on_change.remove(self._changed)
        for timer in (*self._timers, self._quiet_timer):
            if timer is not None:
                self._loop.cancel(timer)
        if self._worker is not None:
            self._worker.end("cancelled")
        self._on_end(self._call, {**self._seen(), "why": why})

    def _changed(self) -> None:
        if self._done:
            return
        self._stream()
        self._listen()
        if self._look.pattern is not None:
            self._search()
        elif not self._process.running:
            self.stop("ended")

    def _listen(self) -> None:
        """Wait for silence anew, once something came."""
        ring, quiet = self._process.ring, self._look.quiet
        if quiet is None or ring.end == self._heard:
            return
        self._heard = ring.end
        if self._quiet_timer is not None:
            self._loop.cancel(self._quiet_timer)
        self._quiet_timer = self._loop.after(quiet, lambda: self.stop("quiet"))

    def _stream(self) -> None:
        ring = self._process.ring
        self._streamed = max(self._streamed, ring.start)
        size = min(self._look.credit, ring.end - self._streamed)
        if size > 0 and not self._done:
            data = ring.between(self._streamed, self._streamed + size)
            self._look.credit -= size
            self._streamed += size
            self._link.send(self._call, OUTPUT, data)

    def _search(self) -> None:
        if self._worker is not None or self._paused:
            return
        ring, pattern = self._process.ring, self._look.pattern or ""
        begin = max(ring.line_start(self._searched), self._searched - LOOKED_BACK)
        end = ring.end
        if end == self._searched:
            self._searched_all()
            return
        text = ring.between(begin, end)
        if _SPECIAL.isdisjoint(pattern):
            self._found({"found": pattern in _plain(text)}, end)
        else:
            self._fork(pattern, text, end)

    def _fork(self, pattern: str, text: bytes, end: int) -> None:
        worker = Worker(self._loop, self._config, self._call, time_limit=MATCH_SECONDS)

        def ended(answer: dict[str, Any]) -> None:
            self._worker = None
            self._found(answer, end)

        try:
            worker.start(lambda: _match(pattern, text), ended)
        except BlockingIOError:
            # The box is full; the watch makes room.
            self._pause()
            return
        self._worker = worker
        self._pause()

    def _pause(self) -> None:
        self._paused = True
        self._timers.append(self._loop.after(PAUSE, self._go_on))

    def _go_on(self) -> None:
        self._paused = False
        self._changed()

    def _found(self, answer: dict[str, Any], end: int) -> None:
        if self._done:
            return
        self._searched = end
        if "error" in answer:
            self.stop("slow" if answer.get("code") == "timeout" else "broken")
        elif answer.get("found"):
            self.stop("match")
        else:
            self._search()

    def _searched_all(self) -> None:
        if not self._process.running:
            self.stop("ended")

    def _seen(self) -> dict[str, Any]:
        ring, look = self._process.ring, self._look
        start, end = min(max(self._from, ring.start), ring.end), ring.end
        skipped = 0
        if end - start > look.most and look.since is None:
            skipped = end - look.most - start
            start += skipped
        end = min(end, start + look.most)
        start = ring.character_start(start)
        if self._process.running or end < ring.end:
            end = max(start, ring.character_end(end))
        self._process.shown = end
        return {
            "text": ring.between(start, end).decode("utf-8", "replace"),
            "start": start,
            "next": end,
            "lost": max(0, min(ring.start, start) - self._from),
            "skipped": skipped,
            "more": ring.end - end,
            "unread": self._process.unread,
            **self._process.state(),
        }


def _plain(text: bytes) -> str:
    # Not before it is needed: most sessions wait for nothing.
    re = importlib.import_module("re")
    control = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|\r"
    return str(re.sub(control, "", text.decode("utf-8", "replace")))


def _match(pattern: str, text: bytes) -> dict[str, Any]:
    re = importlib.import_module("re")
    return {"found": re.search(pattern, _plain(text), re.MULTILINE) is not None}
