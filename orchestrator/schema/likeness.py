"""What a call amounts to, however it is written: for questions, for answers that are remembered."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

FREE_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*(?:/[A-Za-z0-9][A-Za-z0-9._@-]*)*\Z")
"""A word that may stand in a pattern's free place: no option, no glob, no ``..``, no ``a:b``."""
ANY_WORD = "<one word>"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing a call does that somebody may be asked about."""

    kind: str
    """A risk, or a request's kind."""
    program: str
    options: frozenset[str] = frozenset()
    operands: tuple[str, ...] = ()

    def holds(self, other: Act) -> bool:
        """Say whether this does all that the other does: further words change nothing.

        What has no operands hits something of its own choice; operands make that something else.
        """
        return (
            (self.kind, self.program) == (other.kind, other.program)
            and self.options >= other.options
            and frozenset(self.operands) >= frozenset(other.operands)
            and bool(other.operands) >= bool(self.operands)
        )


def repeats(acts: Iterable[Act], denied: Iterable[Act]) -> bool:
    """Say whether a call still does everything that was denied."""
    mine, refused = tuple(acts), tuple(denied)
    return bool(refused) and all(any(act.holds(one) for act in mine) for one in refused)


@dataclass(frozen=True, slots=True)
class Line:
    """One plain command: its words as the program gets them, and where it runs."""

    words: tuple[str, ...]
    cwd: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """Commands that a wider yes would cover; None is a place for any one ``FREE_WORD``."""

    words: tuple[str | None, ...]
    cwd: str

    def covers(self, line: Line) -> bool:
        """Say whether the command is one of them."""
        return (
            self.cwd == line.cwd
            and len(self.words) == len(line.words)
            and all(
                FREE_WORD.match(got) is not None if wanted is None else wanted == got
                for wanted, got in zip(self.words, line.words, strict=True)
            )
        )

    @property
    def text(self) -> str:
        """The commands in one line, for people; a fixed word that looks like a place is quoted."""
        return " ".join(ANY_WORD if word is None else shlex.quote(word) for word in self.words)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What policy's reading of one request yields besides the decision."""

    effects: tuple[str, ...] = ()
    """What would happen, in plain words, a line each; raw text."""
    acts: tuple[Act, ...] = ()
    line: Line | None = None
    """The one plain command it is, where it is one."""
    pattern: Pattern | None = None
    """What a wider yes may cover; None where only exactly this can be said yes to."""
