"""Shells: which text a call of ``sh`` or ``bash`` runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.shell.analysis import Word
from orchestrator.shell.output import Output
from orchestrator.shell.scripts import SHELL, run_file, run_input, run_text
from orchestrator.shell.setting import Site

_VALUED = frozenset({"--rcfile", "--init-file", "-o", "+o", "-O", "+O"})
_FILES = frozenset({"--rcfile", "--init-file"})


@dataclass(frozen=True, slots=True)
class ShellCall:
    """A shell's arguments, sorted."""

    code: Word | None = None
    script: Word | None = None
    files: tuple[Word, ...] = ()
    """Start-up files it is told to read."""
    from_input: bool = False
    does_nothing: bool = False
    arguments: tuple[Word, ...] = ()
    """``$0 $1 …`` of the code, or what follows the script."""


def read_shell_arguments(words: Sequence[Word]) -> ShellCall:
    """Sort the arguments of a shell; ``-c`` takes the first operand, wherever it stands."""
    command = reads_input = checks = False
    files: list[Word] = []
    at = 0
    while at < len(words):
        shape = words[at].shape
        if shape in {"--", "-"}:
            at += 1
            break
        if shape[:1] not in {"-", "+"} or len(shape) < 2:
            break
        if shape in {"--help", "--version", "--dump-strings"}:
            return ShellCall(does_nothing=True)
        at += 1
        if shape in _VALUED or (not shape.startswith("--") and shape[-1] in "oO"):
            if shape in _FILES and at < len(words):
                files.append(words[at])
            at += 1
        if not shape.startswith("--"):
            command = command or "c" in shape
            reads_input = reads_input or "s" in shape
            checks = checks or "n" in shape
    rest = tuple(words[at:])
    if command:
        code = rest[0] if rest else None
        return ShellCall(code, files=tuple(files), arguments=rest[1:], does_nothing=not rest)
    if reads_input or not rest:
        return ShellCall(files=tuple(files), from_input=True, arguments=rest)
    if checks:
        return ShellCall(does_nothing=True)
    return ShellCall(script=rest[0], files=tuple(files), arguments=rest)


def judge_shell(words: Sequence[Word], site: Site) -> Output:
    """Judge what a shell is told to run."""
    call = read_shell_arguments(words[1:])
    if call.does_nothing:
        return Output("data")
    name = words[0].shape.rpartition("/")[2]
    for file in call.files:
        run_file(SHELL, file, site)
    inner = site.inner(f"{name} -c" if call.code is not None else name).forked()
    child = inner.scope
    child.functions = {}
    child.aliases = {}
    if call.code is not None:
        child.positional = tuple(word.shape for word in call.arguments) or (name,)
        return run_text(SHELL, call.code, inner) or Output("data")
    child.positional = (name, *(word.shape for word in call.arguments))
    if call.from_input:
        run_input(SHELL, words[0].span, inner)
    elif call.script is not None:
        child.positional = tuple(word.shape for word in call.arguments)
        run_file(SHELL, call.script, inner)
    return Output("data")
