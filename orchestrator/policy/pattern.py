"""Which one plain command a command line is, and which others a wider yes to it may cover."""

from __future__ import annotations

from orchestrator.schema.likeness import FREE_WORD, Line, Pattern
from orchestrator.shell.analysis import Analysis, SimpleCommand
from orchestrator.shell.knowledge import Rule, Spec
from orchestrator.shell.programs import find_program

_CODE = frozenset(
    {
        "shell",
        "here",
        "split",
        "script",
        "module",
        "run",
        "sink",
        "loads",
        "config",
        "project",
        "makefile",
        "makecode",
        "checkpoint",
    }
)
"""Roles of operands that are code, or name some."""
_CODE_WITH = ("code:", "script:", "setting:", "pair:")
_WIDER = frozenset({"publishes", "destructive", "upload"})
"""Risks of which another word changes what is hit, not which code runs."""
_STARTS = frozenset(
    {"exec", "invoke", "play", "rerun", "restart", "run", "run-script", "start", "up", "x"}
)
"""Sub-commands whose next word names what is started, here or elsewhere."""
_ELSEWHERE = frozenset({"url", "remote", "source"})
"""Roles of operands that name where something comes from."""


def real_commands(analysis: Analysis) -> list[SimpleCommand]:
    """Return the commands, without shells that only run others which are listed too."""
    return [
        command
        for command in analysis.commands
        if not (
            (spec := find_program(command.program or "")) is not None
            and spec.shell
            and any(strictly_inside(other, command) for other in analysis.commands)
        )
    ]


def plain_line(analysis: Analysis) -> Line | None:
    """Return the one command it is: static words, nothing around it; None where it is more."""
    commands = real_commands(analysis)
    if len(commands) != 1:
        return None
    command = commands[0]
    words = tuple(word.value for word in command.argv)
    fixed = tuple(word for word in words if word is not None)
    bare = not (command.wrappers or command.environment or command.redirects)
    piped = command.pipes_into or command.piped_from
    nested = command.origin and not command.origin.endswith(" -c")
    globbed = any(word.glob for word in command.argv)
    if not bare or piped or nested or globbed or len(fixed) != len(words) or command.cwd is None:
        return None
    return Line(fixed, command.cwd)


def pattern_of(line: Line, *, wrapped: bool) -> Pattern | None:
    """Return what a wider yes would cover; None where nothing may be wider.

    The last word may be free where the program and its sub-command stand before it, and the tables
    tell what they do to it. Without a free word there is something to widen only where a shell was
    ``wrapped`` around the command.
    """
    found = _last_sub(line.words)
    if found is None:
        return None
    at, spec = found
    *fixed, last = line.words
    free = (
        len(fixed) >= 2
        and _only_hits(spec)
        and not _STARTS.intersection(line.words[1 : at + 1])
        and at < len(fixed)
        and not any(word.startswith("-") for word in (fixed[1], fixed[-1]))
        and FREE_WORD.match(last) is not None
    )
    if free:
        return Pattern((*fixed, None), line.cwd)
    return Pattern(line.words, line.cwd) if wrapped else None


def _last_sub(words: tuple[str, ...]) -> tuple[int, Spec] | None:
    """Return the last sub-command and where it stands; None where it may run anything else."""
    spec = find_program(words[0]) if "/" not in words[0] else None
    at = 0
    while spec is not None and not _runs_code(spec):
        if not spec.subs:
            return at, spec
        at += 1
        found = spec.sub_specs.get(words[at]) if at < len(words) else None
        if found is None:
            # A sub-command the tables do not know may be an alias or an extension.
            return None
        spec = found
    return None


def _only_hits(spec: Spec) -> bool:
    """Say whether another operand is only another target, never other code.

    A use that the tables call harmless (``npm run``) or risky for an option alone
    (``git difftool -x``) may still run what its operand names: nothing says that it does not.
    """
    rules = [rule for rule in spec.rules if not (rule.any or rule.all or rule.value)]
    risks = {rule.risk for rule in rules} | ({spec.risk} if spec.risk else set())
    roles = {spec.operands, spec.first, spec.last}
    told = bool(spec.risk) or any(roles) or any(not _asks_for_words(rule) for rule in rules)
    return told and risks <= _WIDER and not roles & _ELSEWHERE


def _asks_for_words(rule: Rule) -> bool:
    """Say whether the rule speaks of some words alone: ``mvn deploy``, and not ``mvn x``."""
    return bool(rule.words or rule.line or rule.operand)


def _runs_code(spec: Spec) -> bool:
    roles = (spec.operands, spec.first, spec.last, *spec.given.values())
    coded = any(role in _CODE or role.startswith(_CODE_WITH) for role in roles)
    return bool(spec.shell or spec.stdin or spec.script or spec.wraps or spec.until or coded)


def strictly_inside(inner: SimpleCommand, outer: SimpleCommand) -> bool:
    """Say whether one command stands within another and is not all of it."""
    wide = outer.span[0] <= inner.span[0] and inner.span[1] <= outer.span[1]
    return wide and inner.span != outer.span
