"""Descriptors that are waited for, and who is called when one is ready."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[], None]
    OnExit = Callable[[int], None]

READABLE = select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR
WRITABLE = select.EPOLLOUT | select.EPOLLHUP | select.EPOLLERR


class Descriptors:
    """One epoll, with at most one reader and one writer for each descriptor."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._readers: dict[int, Handler] = {}
        self._writers: dict[int, Handler] = {}

    def on_readable(self, fd: int, handler: Handler | None) -> None:
        """Call ``handler`` whenever ``fd`` can be read; None stops that."""
        self._change(fd, self._readers, handler)

    def on_writable(self, fd: int, handler: Handler | None) -> None:
        """Call ``handler`` whenever ``fd`` can be written; None stops that."""
        self._change(fd, self._writers, handler)

    def call_ready(self, seconds: float | None, most: int = -1) -> None:
        """Wait, at most so long, and call whoever waits for what is ready, at most so many."""
        for fd, events in self._poll.poll(seconds, most):
            # A handler may have dropped a descriptor that is still in this batch, and a new one
            # may have its number: handlers take a vain call.
            if events & READABLE and fd in self._readers:
                self._readers[fd]()
            if events & WRITABLE and fd in self._writers:
                self._writers[fd]()

    def _change(self, fd: int, table: dict[int, Handler], handler: Handler | None) -> None:
        before = self._mask(fd)
        if handler is None:
            table.pop(fd, None)
        else:
            table[fd] = handler
        mask = self._mask(fd)
        if mask == before:
            return
        if not mask:
            self._poll.unregister(fd)
        elif before:
            self._poll.modify(fd, mask)
        else:
            self._poll.register(fd, mask)

    def _mask(self, fd: int) -> int:
        reading = READABLE if fd in self._readers else 0
        return reading | (select.EPOLLOUT if fd in self._writers else 0)
