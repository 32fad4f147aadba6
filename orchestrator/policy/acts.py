"""What a command line does that somebody may be asked about, in a form that a rewrite keeps."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from orchestrator.policy.pattern import real_commands
from orchestrator.schema.likeness import Act
from orchestrator.shell.analysis import Analysis, SimpleCommand, Span, Word
from orchestrator.shell.programs import find_program

_OF_PLACES = frozenset({"destructive", "persistence", "secrets", "exhaustion"})
"""Risks whose operands are paths: where they are relative to matters."""


def acts_of(analysis: Analysis) -> Iterator[Act]:
    """Yield what each finding is about; without a finding, everything that would run."""
    commands = real_commands(analysis)
    found: dict[Act, None] = {}
    for finding in analysis.findings:
        for command in _innermost(commands, finding.span):
            found[_act(finding.risk, command)] = None
    for path, span in analysis.writes:
        if any(_overlap(span, finding.span) for finding in analysis.findings):
            found[Act("writes", "", operands=(path,))] = None
    if not found:
        found.update((_act("", command), None) for command in commands)
    yield from found


def _innermost(commands: list[SimpleCommand], span: Span) -> list[SimpleCommand]:
    """Return the commands a finding is about: the smallest ones that it touches."""
    touched = [command for command in commands if _overlap(command.span, span)]
    if not touched:
        return []
    size = min(command.span[1] - command.span[0] for command in touched)
    smallest = [c for c in touched if c.span[1] - c.span[0] == size]
    inside = [c for c in touched if span[0] <= c.span[0] and c.span[1] <= span[1]]
    found = inside or smallest
    # What a pipe feeds is half of what it does.
    return commands if any(command.piped_from for command in found) else found


def _act(kind: str, command: SimpleCommand) -> Act:
    options: set[str] = set()
    operands = []
    plain = False
    for word in command.argv[1:]:
        text = _text(word)
        if not plain and text.startswith("-"):
            options.update(_options(text))
            plain = text == "--"
        else:
            operands.append(_place(text, command) if kind in _OF_PLACES else text)
    program = command.program or _text(command.argv[0])
    spec = find_program(program)
    # One shell is as good as another for what runs in it.
    named = "sh" if spec is not None and spec.shell else program
    return Act(kind, named, frozenset(options - {"-", "--"}), tuple(operands))


def _options(text: str) -> Iterator[str]:
    """Yield a word's options: a cluster of letters is as many options in any order."""
    if text.startswith("--") or not text[1:].isalpha():
        yield text
        return
    yield from (f"-{letter}" for letter in text[1:])


def _place(text: str, command: SimpleCommand) -> str:
    return posixpath.normpath(posixpath.join(command.cwd or "", text))


def _text(word: Word) -> str:
    return word.value if word.value is not None else word.shape or word.raw


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
