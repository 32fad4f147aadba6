"""How much a call may answer, so that a turn's results fit what is left of the conversation. Pure.

What the size of a result is known by before the call (bytes of a file, number of matches) is asked
for in so much only: the box then answers whole lines, and says how to go on. What nobody could know
before, a command's output say, is shortened before the conversation gets it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.schema.middle import without_middle
from orchestrator.schema.request import (
    FindRequest,
    GrepRequest,
    ListRequest,
    ProcessInput,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
    ReadRequest,
    Request,
)
from orchestrator.schema.text_tokens import text_tokens

RoomLeft = Callable[[], int]
"""Tokens that the results of the turn may have together."""

BYTES_PER_TOKEN = 2
"""Of dense text such as JSON; prose has more."""
TOKENS_PER_MATCH = 8
"""The shortest line of an answer to grep, find or ls; only what cannot fit is not asked for."""
LEAST = 512
"""Tokens that each call may answer, however little is left: less would say nothing."""
HALVINGS = 5
"""Down to a thirty-second."""
SHORTENED = (
    "[... {count} characters left out: the conversation has room for about {room} tokens of this "
    "result; ask for less at once: a part of the file, a narrower search, or a filter such as "
    "head, tail or grep ...]"
)


def unbounded() -> int:
    """Return more than any result has: for calls that no conversation hears."""
    return 1_000_000_000


@dataclass(frozen=True, slots=True)
class ResultRoom:
    """One call's part of what is left."""

    tokens: int

    @classmethod
    def shared(cls, left: int, calls: int) -> ResultRoom:
        """Return the part of each of so many calls."""
        return cls(max(left // max(calls, 1), LEAST))

    def narrowed(self, request: Request) -> Request:
        """Return the request with the bounds that it can have; one that fits is not changed."""
        match request:
            case ReadRequest():
                return replace(request, max_bytes=self._bytes(request.max_bytes))
            case GrepRequest() | FindRequest() | ListRequest():
                most = max(self.tokens // TOKENS_PER_MATCH, 1)
                return replace(request, limit=min(request.limit, most))
            case ProcessStart() | ProcessOutput() | ProcessInput() | ProcessSignal():
                most = self._bytes(request.look.max_bytes)
                return replace(request, look=replace(request.look, max_bytes=most))
            case _:
                return request

    def fitted(self, output: str) -> str:
        """Return the output, its middle left out where it has too many tokens.

        The end stays: it says how to go on, or where the full output lies.
        """
        most, told = len(output), output
        while text_tokens(told) > self.tokens and most > 1:
            most = most * 3 // 4
            told = without_middle(output, most, SHORTENED, room=self.tokens)
        return told

    def _bytes(self, wanted: int) -> int:
        """Return the most that fits, by halves: what was approved once is then seldom another."""
        halves = (wanted >> times for times in range(HALVINGS + 1))
        fitting = (size for size in halves if size <= self.tokens * BYTES_PER_TOKEN)
        return next(fitting, wanted >> HALVINGS)
