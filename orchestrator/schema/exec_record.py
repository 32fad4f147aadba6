"""Which programs a command started, as the box saw it. Everything in it is untrusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExecSeen:
    """One attempt to start a program, seen before it was made."""

    pid: int
    """In the box."""
    parent: int
    path: str
    """As it was given to the kernel: relative, or one of the directories of PATH tried in turn."""
    argv: tuple[str, ...]
    real: str = ""
    """The file that the path leads to; empty where there is none, so that nothing can start."""
    lines: tuple[str, ...] = ()
    """What names the interpreter of a script, then of that interpreter where it is one too."""
    by: str = ""
    """The file of the program that asks for it."""
    cut: bool = False
    """There were more arguments, or longer ones, than are kept."""
    unreadable: bool = False
    """The process lets nobody read its memory; path and arguments are not known."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ExecReport:
    """What one command started since the last report."""

    execs: tuple[ExecSeen, ...]
    unlisted: int = 0
    """Further ones that were only counted: repetitions, or all after an overflow."""
    overflow: bool = False
    """More different ones came than can be told apart."""
    last: bool = False
    """Nothing is left of the command that could start anything."""


OnExecs = Callable[[ExecReport], bool]
"""Called with each report; True asks the box to end everything that the command started."""
