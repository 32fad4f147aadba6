"""The server's end of the witness (``witness.c``): which programs every command started.

What it says is gathered for a moment and goes to the host in frames of the command's number.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
from typing import TYPE_CHECKING

from frames import EXECS
from seen import LATER, Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from link import Link
    from loop import Loop

PROGRAM = "/opt/glovebox/witness"
CALLS, _RECORDS = 3, 4
FIRST_WORD_MS = 5000
RETRY = 0.05
READ_SIZE = 256 * 1024

_SIZE = struct.Struct("=I")
_HEAD = struct.Struct("=IQII")
_GONE = 4
"""Nothing is left of it; the other flags are in ``seen``."""


class Witness:
    """Starts the witness, starts it again when it was ended, and passes on what it says."""

    def __init__(self, loop: Loop, config: Config, *, wanted: bool) -> None:
        self._loop = loop
        self._config = config
        self.problem = "" if wanted else "off by policy"
        """Why nothing is recorded; empty where it is."""
        self.calls = -1
        """The socket that a spare shows its listener on; -1 where there is no witness."""
        self._records = -1
        self._buffer = bytearray()
        self._number = 0
        self._seen: dict[int, Seen] = {}
        self._numbers: dict[int, int] = {}
        """Of the spares, by call."""
        self._timers: dict[int, int] = {}
        self._link: Link | None = None
        self._on_loss: Callable[[], None] = _nothing
        if wanted:
            self._start()

    def report_over(self, link: Link, on_loss: Callable[[], None]) -> None:
        """Name the connection for reports, and who must know that waiting spares are of no use."""
        self._link = link
        self._on_loss = on_loss

    def number(self) -> int:
        """Return a new spare's number, 0 where nothing is recorded; BlockingIOError: not now."""
        if self.problem:
            return 0
        if self.calls < 0:
            raise BlockingIOError(errno.EAGAIN, "the witness is being started again")
        self._number = self._number % 0x7FFF_FFFF + 1
        return self._number

    def follow(self, number: int, call: int, shell: int) -> None:
        """Count what the spare of this number starts as the call's; to be called before it starts."""
        if number:
            self._seen[number] = Seen(call, shell)
            self._numbers[call] = number

    def settle(self, call: int) -> None:
        """Report what the call started up to now, before it is answered."""
        number = self._numbers.get(call)
        if number is None:
            return
        self._read()
        # Reading may have found the last of it.
        if number in self._seen:
            self._seen[number].delay = LATER
            self._report(number)

    def _start(self) -> None:
        theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        records, said = os.pipe2(os.O_CLOEXEC)
        try:
            pid = os.posix_spawn(
                PROGRAM,
                ["witness", str(self._config.uid), str(self._config.gid)],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), CALLS),
                    (os.POSIX_SPAWN_DUP2, said, _RECORDS),
                ],
                setsid=True,
                setsigmask=(),
            )
        except BlockingIOError:
            os.close(records)
            ours.close()
            self._loop.after(RETRY, self._start)
            return
        finally:
            theirs.close()
            os.close(said)
        self._loop.on_exit(pid, lambda _status: self._ended())
        self.problem = _first_word(records)
        self.calls, self._records = ours.detach(), records
        if self.problem:
            self._close()
            return
        os.set_blocking(records, False)
        self._loop.on_readable(records, self._read)

    def _ended(self) -> None:
        """Start another, where this one was ended with everything else in a box that was full.

        What still runs of earlier commands can start nothing more; it is seen to the end of it.
        """
        if self.problem:
            return
        self._read()
        if self.calls >= 0:
            self._close()
        for number in list(self._seen):
            self._report(number, last=True)
        self._on_loss()
        self._loop.after(RETRY, self._start)

    def _close(self) -> None:
        if self._records >= 0:
            self._loop.on_readable(self._records, None)
            os.close(self._records)
            os.close(self.calls)
        self._records = self.calls = -1
        self._buffer.clear()

    def _read(self) -> None:
        """Take all that was said; called late and for nothing at times."""
        while self._records >= 0:
            try:
                data = os.read(self._records, READ_SIZE)
            except BlockingIOError:
                return
            if not data:
                self._close()
                return
            self._buffer += data
            self._take()

    def _take(self) -> None:
        buffer, at = self._buffer, 0
        while len(buffer) - at >= _SIZE.size:
            end = at + _SIZE.size + _SIZE.unpack_from(buffer, at)[0]
            if end > len(buffer):
                break
            flags, number, pid, parent = _HEAD.unpack_from(buffer, at + _SIZE.size)
            text = bytes(buffer[at + _SIZE.size + _HEAD.size : end])
            at = end
            seen = self._seen.get(number)
            if seen is None:
                continue
            if flags & _GONE:
                self._report(number, last=True)
                continue
            seen.add((pid, parent), flags, text)
            if seen.is_full:
                self._report(number)
            elif number not in self._timers:
                self._timers[number] = self._loop.after(seen.delay, self._reporter(number))
        del buffer[:at]

    def _reporter(self, number: int) -> Callable[[], None]:
        return lambda: self._report(number)

    def _report(self, number: int, *, last: bool = False) -> None:
        timer = self._timers.pop(number, None)
        if timer is not None:
            self._loop.cancel(timer)
        seen = self._seen.get(number)
        if seen is not None and last:
            del self._seen[number], self._numbers[seen.call]
        body = seen.report(last=last) if seen is not None else None
        if seen is not None and body is not None and self._link is not None:
            self._link.send(seen.call, EXECS, body)


def _first_word(records: int) -> str:
    """Return why the witness cannot work; it says so, or that nothing is wrong, at once."""
    poll = select.poll()
    poll.register(records, select.POLLIN)
    if not poll.poll(FIRST_WORD_MS):
        return "the witness did not start"
    # One short line, written before anything else.
    word = os.read(records, 256)
    return word.decode("utf-8", "replace").strip() if word.endswith(b"\n") else "the witness ended"


def _nothing() -> None:
    """Stand in for a handler until there is one."""
