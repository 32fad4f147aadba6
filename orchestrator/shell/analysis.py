"""What reading a command line yields: every simple command it would run, and what is wrong.

``orchestrator.shell.analyse`` makes it; ``orchestrator.policy`` judges it. Pure data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orchestrator.schema.decision import Risk

Span = tuple[int, int]
"""Character offsets into the command text as it was given, also for nested code."""


def overlap(one: Span, other: Span) -> bool:
    """Say whether two spans share a character."""
    return one[0] < other[1] and other[0] < one[1]


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quote removal and expansion; ``value`` is None where that is not static."""

    value: str | None
    raw: str
    span: Span
    glob: bool = False
    """An unquoted ``* ? [`` is left in it for the shell to expand."""
    shape: str = ""
    """``value``, with U+FFFC in place of each part that is not static."""
    splits: bool = False
    """A part that is not static stands unquoted: the shell may make several words of it."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection; ``target`` is None where it is not static, and for copied descriptors."""

    op: str
    """``> >> < <> >| &> &>> << <<< >& <&``."""
    target: str | None
    span: Span
    writes: bool


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program or builtin that would run, with wrappers (env, sudo, timeout …) taken off."""

    argv: tuple[Word, ...]
    """Never empty; ``argv[0]`` is the program as written, a path kept."""
    span: Span
    program: str | None
    """Base name of ``argv[0]``; None where it is not static."""
    environment: tuple[tuple[str, str | None], ...] = ()
    """Assignments in front of it, by wrappers too; None where the value is not static."""
    redirects: tuple[Redirect, ...] = ()
    wrappers: tuple[str, ...] = ()
    """Programs it was unwrapped from, outermost first: ``("sudo", "timeout")``."""
    cwd: str | None = None
    """Where it runs, as far as ``cd`` and ``-C`` can be followed; None when unknown."""
    pipes_into: str | None = None
    """Program of the next member of the pipeline."""
    piped_from: str | None = None
    """Program of the member before."""
    origin: str = ""
    """How nested code got here: ``sh -c``, ``eval``, ``xargs``, ``$()`` …; empty at the top."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One risk, where it stands and why."""

    risk: Risk
    reason: str
    span: Span
    severity: Literal["ask", "high"] = "ask"
    """``high`` marks what no blanket yes may answer (root or home deletes, evasion, over-limit)."""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything known of a command line without running it."""

    command: str
    commands: tuple[SimpleCommand, ...]
    findings: tuple[Finding, ...]
    writes: tuple[tuple[str, Span], ...] = field(default=())
    """Paths it would write, absolute where the directory is known."""
    deletes: tuple[tuple[str, Span], ...] = field(default=())
    """Paths it would take away; whoever may not write a file may not do that either."""
    trees: tuple[tuple[str, Span], ...] = field(default=())
    """Paths that it would move or take away with all that lies below them."""
    reads: tuple[tuple[str, Span], ...] = field(default=())
