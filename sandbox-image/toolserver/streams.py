"""The streams that are open: which message belongs to whom, and what the host may ask for.

Loaded with the first one, since most sessions have none.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from frames import BOX_NUMBERS, OPEN, RESULT
from pipe_stream import PipeStream
from program_stream import ProgramStream
from tcp_stream import TcpStream
from terminal_stream import TerminalStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from frames import Frame
    from link import Link
    from loop import Loop
    from stream import Stream
    from watch import Watch
    from witness import Witness

MOST = 128
"""At a time; a browser opens several connections for one page."""
MOST_PROGRAMS = 8


class Streams:
    """All of one session's."""

    def __init__(
        self, loop: Loop, config: Config, link: Link, *, watch: Watch, witness: Witness
    ) -> None:
        self._loop = loop
        self._config = config
        self._place = (loop, config)
        self._link = link
        self._watch = watch
        self._witness = witness
        self._open: dict[int, Stream] = {}

    def __contains__(self, number: int) -> bool:
        """Say whether a number is a stream's."""
        return number in self._open

    def programs(self) -> list[ProgramStream]:
        """Return those that have processes."""
        return [one for one in self._open.values() if isinstance(one, ProgramStream)]

    def take(self, frame: Frame, lowest: Callable[[], int]) -> None:
        """Act on one message of the host; ``lowest`` tells the lowest mark given out."""
        if frame.kind != OPEN:
            self._open[frame.call].take(frame)
            return
        try:
            self._begin(frame.call, json.loads(frame.payload), lowest)
        # One request must not end the session's server, whatever it trips over.
        except Exception as err:  # noqa: BLE001
            self._open.pop(frame.call, None)
            self._refuse(frame.call, f"stream: {type(err).__name__}: {err}")

    def _begin(self, number: int, body: dict[str, Any], lowest: Callable[[], int]) -> None:
        to, credit = body["to"], int(body["credit"])
        if number >= BOX_NUMBERS or number in self._open:
            self._refuse(number, f"stream {number}: the number is not the host's to give")
        elif len(self._open) >= MOST:
            self._refuse(number, f"{MOST} streams are open already; close one first")
        elif "terminal" in to:
            terminal = TerminalStream(
                *self._place, link=self._link, number=number, on_end=self._forget
            )
            self._open_program(terminal, to["terminal"], credit, lowest)
        elif "program" in to:
            pipes = PipeStream(*self._place, link=self._link, number=number, on_end=self._forget)
            self._open_program(pipes, to["program"], credit, lowest)
        else:
            tcp = TcpStream(self._loop, self._link, number, on_end=self._forget)
            self._open[number] = tcp
            tcp.credit(credit)
            tcp.connect(self._config, int(to["tcp"]))

    def _open_program(
        self, one: ProgramStream, order: dict[str, Any], credit: int, lowest: Callable[[], int]
    ) -> None:
        if len(self.programs()) >= MOST_PROGRAMS:
            problem = f"{MOST_PROGRAMS} terminals or programs are open already; close one first"
            self._refuse(one.number, problem)
            return
        budget = self._watch.budget
        if budget.closed:
            self._refuse(one.number, budget.refusal)
            return
        full = budget.refusal if budget.full else None
        witness = self._witness if order.get("watched") else None
        one.credit(credit)
        try:
            one.start(order, lowest=lowest, witness=witness, full=full)
        except BlockingIOError:
            self._watch.make_room()
            one.start(order, lowest=lowest, witness=witness, full=full)
        self._open[one.number] = one
        self._watch.wake()

    def _forget(self, number: int) -> None:
        self._open.pop(number, None)

    def _refuse(self, number: int, message: str) -> None:
        result = {"error": message, "code": "unavailable"}
        self._link.send(number, RESULT, json.dumps(result).encode())
