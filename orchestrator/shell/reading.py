"""What has been found so far while a command is read, and the limits of reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.schema.decision import Risk
from orchestrator.shell.analysis import Finding, SimpleCommand, Span, Word
from orchestrator.shell.output import Output
from orchestrator.shell.source import Anchor

MAX_COMMANDS = 400
"""Simple commands read before giving up; a person would not read that many either."""

MAX_DEPTH = 12
"""Levels of code inside code."""

MAX_NODES_DEEP = 120
"""Levels of syntax; beyond it only an attack or a generator writes."""


MAX_NODES = 20_000
"""Nodes of one syntax tree; a file of that size written by a heredoc is one node."""

UNSEEN = "…"
"""Stands as the raw text of an argument that a program only finds when it runs."""


class OverLimitError(ValueError):
    """Raised when a command is too large to be read; it must never be allowed unseen."""


@dataclass(slots=True)
class Reading:
    """Findings and facts of one analysis, in the order they were met."""

    findings: dict[tuple[Risk, Span, str], Finding] = field(default_factory=dict)
    commands: list[SimpleCommand] = field(default_factory=list)
    writes: dict[tuple[str, Span], None] = field(default_factory=dict)
    deletes: dict[tuple[str, Span], None] = field(default_factory=dict)
    trees: dict[tuple[str, Span], None] = field(default_factory=dict)
    reads: dict[tuple[str, Span], None] = field(default_factory=dict)
    outputs: list[tuple[Span, Output]] = field(default_factory=list)
    """What each substitution prints."""
    uncalled: dict[str, Callable[[], object]] = field(default_factory=dict)
    """Functions that nothing has called yet, with what reads their bodies."""
    stored: dict[Span, None] = field(default_factory=dict)
    """Quoted texts with a substitution in them that are kept as values."""
    evaluates: bool = False
    """Something evaluates values a second time."""
    steps: int = 0

    def report(
        self,
        risk: Risk,
        reason: str,
        span: Span,
        *,
        severity: Literal["ask", "high"] = "ask",
        hint: str = "",
    ) -> None:
        """Record a finding once, as grave as it was ever met; opaque and evasive ones are high."""
        if risk in {"opaque", "evasion"}:
            severity = "high"
        key = (risk, span, reason)
        known = self.findings.get(key)
        if known is None or (known.severity, severity) == ("ask", "high"):
            self.findings[key] = Finding(risk, reason, span, severity=severity, hint=hint)

    def add_command(self, command: SimpleCommand) -> None:
        """Record a command; raise when there are too many."""
        self.commands.append(command)
        self.step()

    def step(self) -> None:
        """Count one more thing that runs; raise when there are too many."""
        self.steps += 1
        if self.steps > MAX_COMMANDS:
            raise OverLimitError(f"more than {MAX_COMMANDS} commands")

    def read_uncalled(self) -> None:
        """Read the bodies of functions that were defined and never called."""
        while self.uncalled:
            _, read = self.uncalled.popitem()
            read()

    def outputs_in(self, span: Span) -> list[Output]:
        """Return what the substitutions inside a span print."""
        return [out for inner, out in self.outputs if span[0] <= inner[0] and inner[1] <= span[1]]


def anchor_in(word: Word, code: str) -> Anchor:
    """Return where ``code``, the content of ``word``, stands in the command."""
    at = word.raw.find(code) if code else -1
    return Anchor(word.span, word.span[0] + at if at >= 0 else None)
