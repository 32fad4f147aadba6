"""What a command line does that somebody may be asked about, in a form that a rewrite keeps."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from orchestrator.policy.pattern import real_commands
from orchestrator.schema.likeness import Act
from orchestrator.shell.analysis import Analysis, SimpleCommand, Span, Word, overlap
from orchestrator.shell.programs import find_program

OF_PLACES = frozenset({"destructive", "persistence", "secrets", "exhaustion"})
"""Risks whose operands are paths: where they are relative to matters."""
Tell = Callable[[str, SimpleCommand], Act]
"""Make an act of a kind and a command."""


def exact_act(kind: str, command: SimpleCommand) -> Act:
    """Return what the command does with all its words."""
    options, operands = split_words(command)
    if kind in OF_PLACES:
        operands = tuple(place(text, command.cwd) for text in operands)
    return Act(kind, program_of(command), options, operands)


def acts_of(analysis: Analysis, *, tell: Tell = exact_act) -> Iterator[Act]:
    """Yield what each finding is about; without a finding, everything that would run."""
    commands = real_commands(analysis)
    found: dict[Act, None] = {}
    for finding in analysis.findings:
        for command in _innermost(commands, finding.span):
            found[tell(finding.risk, command)] = None
    for path, span in analysis.writes:
        if any(overlap(span, finding.span) for finding in analysis.findings):
            found[Act("writes", "", operands=(path,))] = None
    if not found:
        found.update((tell("", command), None) for command in commands)
    yield from found


def _innermost(commands: list[SimpleCommand], span: Span) -> list[SimpleCommand]:
    """Return the commands a finding is about: the smallest ones that it touches."""
    touched = [command for command in commands if overlap(command.span, span)]
    if not touched:
        return []
    size = min(command.span[1] - command.span[0] for command in touched)
    smallest = [c for c in touched if c.span[1] - c.span[0] == size]
    inside = [c for c in touched if span[0] <= c.span[0] and c.span[1] <= span[1]]
    found = inside or smallest
    # What a pipe feeds is half of what it does.
    return commands if any(command.piped_from for command in found) else found


def split_words(command: SimpleCommand) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return options and operands by their looks alone; a cluster of letters is as many options."""
    options: set[str] = set()
    operands = []
    plain = False
    for word in command.argv[1:]:
        text = text_of(word)
        if not plain and text.startswith("-"):
            options.update(_options(text))
            plain = text == "--"
        else:
            operands.append(text)
    return frozenset(options - {"-", "--"}), tuple(operands)


def program_of(command: SimpleCommand) -> str:
    """Return the program's name; one shell is as good as another for what runs in it."""
    program = command.program or text_of(command.argv[0])
    spec = find_program(program)
    return "sh" if spec is not None and spec.shell else program


def place(text: str, cwd: str | None) -> str:
    """Return the path that a word names for a program that runs in ``cwd``."""
    return posixpath.normpath(posixpath.join(cwd or "", text))


def text_of(word: Word) -> str:
    """Return the word; what is not static is a stand-in, or as it was written."""
    return word.value if word.value is not None else word.shape or word.raw


def _options(text: str) -> Iterator[str]:
    """Yield a word's options: a cluster of letters is as many options in any order."""
    if text.startswith("--") or not text[1:].isalpha():
        yield text
        return
    yield from (f"-{letter}" for letter in text[1:])
