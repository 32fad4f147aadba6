"""Does a command rule match a program that would run? All its criteria must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.policy.arguments import Certainty, match_args, match_flags, sure
from orchestrator.policy.globs import GlobSet, name_glob
from orchestrator.policy.rules import CommandRule
from orchestrator.shell.analysis import SimpleCommand
from orchestrator.shell.programs import find_program

SYSTEM_FOLDERS = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
"""Where a path means the same program as its bare name, also to an ``allow`` rule."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule with its path globs ready."""

    rule: CommandRule
    writes: GlobSet | None
    cwd: GlobSet | None

    @property
    def lenient(self) -> bool:
        """True for ``ask`` and ``deny``: a possible match is a match."""
        return self.rule.effect != "allow"


@dataclass(frozen=True, slots=True)
class Seen:
    """One program that would run, and what it would write."""

    command: SimpleCommand
    writes: tuple[str | None, ...] = ()
    """Absolute paths; None for one that cannot be told."""
    wrapper: str | None = None
    """Set when the program in question is one the command was unwrapped from."""

    @property
    def program(self) -> str | None:
        """Base name of the program in question."""
        return self.wrapper or self.command.program


def match_rule(compiled: CompiledRule, seen: Seen) -> Certainty:
    """Return how surely all criteria of the rule hold for the command."""
    result = Certainty.YES
    for criterion in _CRITERIA:
        result = min(result, criterion(compiled, seen))
        if result is Certainty.NO:
            break
    return result if compiled.lenient or result is Certainty.YES else Certainty.NO


def _program(compiled: CompiledRule, seen: Seen) -> Certainty:
    wanted = compiled.rule.program
    if not wanted:
        return Certainty.YES
    if seen.program is None:
        return _unknown(compiled)
    path = seen.command.argv[0].value if seen.wrapper is None else None
    if path is not None and path in wanted:
        return Certainty.YES
    if seen.program not in wanted:
        return Certainty.NO
    if compiled.lenient or path is None or "/" not in path:
        return Certainty.YES
    return sure(path.rpartition("/")[0] in SYSTEM_FOLDERS)


def _args(compiled: CompiledRule, seen: Seen) -> Certainty:
    wanted = compiled.rule.args
    if not wanted:
        return Certainty.YES
    if seen.wrapper is not None:
        return _unknown(compiled)
    words = seen.command.argv[1:]
    takes_value = _option_knowledge(seen.program)
    return match_args(words, wanted, takes_value=takes_value, lenient=compiled.lenient)


def _option_knowledge(program: str | None) -> Callable[[str], bool | None]:
    spec = find_program(program) if program else None

    def takes_value(option: str) -> bool | None:
        if spec is None:
            return None
        if option in spec.takes_value:
            return True
        return False if option in spec.known else None

    return takes_value


def _flags(compiled: CompiledRule, seen: Seen) -> Certainty:
    flags = compiled.rule.flags
    if flags is None:
        return Certainty.YES
    if seen.wrapper is not None:
        return _unknown(compiled)
    return match_flags(flags, seen.command.argv[1:], lenient=compiled.lenient)


def _env(compiled: CompiledRule, seen: Seen) -> Certainty:
    wanted = compiled.rule.env
    if not wanted:
        return Certainty.YES
    names = [name for name, _ in seen.command.environment]
    return sure(any(name_glob(glob).match(name) for glob in wanted for name in names))


def _writes(compiled: CompiledRule, seen: Seen) -> Certainty:
    if compiled.writes is None:
        return Certainty.YES
    if any(compiled.writes.match(path) for path in seen.writes if path is not None):
        return Certainty.YES
    return _unknown(compiled) if None in seen.writes else Certainty.NO


def _pipes_into(compiled: CompiledRule, seen: Seen) -> Certainty:
    wanted = compiled.rule.pipes_into
    return sure(not wanted or seen.command.pipes_into in wanted)


def _cwd(compiled: CompiledRule, seen: Seen) -> Certainty:
    if compiled.cwd is None:
        return Certainty.YES
    if seen.command.cwd is None:
        return _unknown(compiled)
    return sure(compiled.cwd.match(seen.command.cwd) is not None)


_CRITERIA: tuple[Callable[[CompiledRule, Seen], Certainty], ...] = (
    _program,
    _args,
    _flags,
    _env,
    _writes,
    _pipes_into,
    _cwd,
)


def _unknown(compiled: CompiledRule) -> Certainty:
    return Certainty.MAYBE if compiled.lenient else Certainty.NO
