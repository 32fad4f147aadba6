"""Whether a command's text shows what was started: the same program with the same arguments."""

from __future__ import annotations

import re

from orchestrator.policy.acts import acts_of
from orchestrator.policy.pattern import real_commands, strictly_inside
from orchestrator.schema.likeness import Act
from orchestrator.shell.analysis import Analysis, SimpleCommand, overlap
from orchestrator.shell.reading import UNSEEN

_BETWEEN = "\0"
_ONE = rf"[^{_BETWEEN}]*"
_MANY = rf"(?:{_ONE}{_BETWEEN})*"


class Shown:
    """What one text shows; arguments that are open in it may be anything, others may not."""

    def __init__(self, text: Analysis) -> None:
        """Take the analysis of the text that was judged."""
        commands = real_commands(text)
        self._patterns = [_pattern(command) for command in commands]
        self._acts: frozenset[Act] = frozenset()
        if all(word.value is not None for command in commands for word in command.argv):
            # Acts are compared as texts, in which nothing may be open.
            self._acts = frozenset(acts_of(text))

    def covers(self, started: Analysis) -> bool:
        """Say whether everything risky that was started stands in the text."""
        if self._acts and self._acts.issuperset(acts_of(started)):
            return True
        return all(self._shows(command) for command in _risky(started))

    def _shows(self, command: SimpleCommand) -> bool:
        words = [command.program or "", *(word.value or "" for word in command.argv[1:])]
        line = "".join(f"{word}{_BETWEEN}" for word in words)
        return any(pattern is not None and pattern.fullmatch(line) for pattern in self._patterns)


def _pattern(command: SimpleCommand) -> re.Pattern[str] | None:
    """Return what the command's words may become; None where the program itself is open."""
    if command.program is None:
        return None
    parts = [re.escape(f"{command.program}{_BETWEEN}")]
    for word in command.argv[1:]:
        # What find and xargs fill in.
        filled = word.raw == UNSEEN
        if word.glob or filled or (word.value is None and (word.splits or not word.shape)):
            parts.append(_MANY)
        elif word.value is None:
            parts.append(f"{_ONE}{_BETWEEN}")
        else:
            parts.append(re.escape(f"{word.value}{_BETWEEN}"))
    return re.compile("".join(parts), re.DOTALL)


def _risky(started: Analysis) -> list[SimpleCommand]:
    """Return the commands that findings are about, all of them where there is no finding."""
    commands = real_commands(started)
    touched = [
        command
        for command in commands
        if any(overlap(command.span, finding.span) for finding in started.findings)
    ]
    inner = [one for one in touched if not any(strictly_inside(other, one) for other in touched)]
    return inner or commands
