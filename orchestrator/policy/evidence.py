"""What recorded sessions used: programs with their first arguments, tools, and written paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.policy.replay import RecordedCall
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    ProcessStart,
    WriteRequest,
)
from orchestrator.shell.analyse import analyse
from orchestrator.shell.analysis import Analysis, SimpleCommand
from orchestrator.shell.knowledge import Spec
from orchestrator.shell.programs import find_program

MOST_ARGS = 16
"""Leading arguments that a rule can name."""
MOST_WORD = 500
"""Characters of one of them."""


@dataclass(slots=True)
class Seen:
    """How often something was used, and where first."""

    count: int = 0
    sessions: set[str] = field(default_factory=set)
    first: str = ""
    example: str = ""

    def add(self, call: RecordedCall, example: str = "") -> None:
        """Count one use."""
        self.count += 1
        self.sessions.add(call.chain)
        if not self.first:
            self.first = f"{call.chain} seq {call.seq}"
            self.example = example

    def __str__(self) -> str:
        """Return the evidence as a comment."""
        times = "once" if self.count == 1 else f"{self.count} times"
        many = len(self.sessions)
        sessions = f" in {many} sessions" if many > 1 else ""
        return f"{times}{sessions}, first {self.first}"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a program as narrowly as a rule can say it; ``exact`` where all of it counts."""

    program: str
    args: tuple[str, ...]
    exact: bool


@dataclass(slots=True)
class Evidence:
    """All that was let through without a question."""

    tools: dict[str, Seen] = field(default_factory=dict)
    uses: dict[Use, Seen] = field(default_factory=dict)
    writes: dict[str, Seen] = field(default_factory=dict)
    """Absolute paths in the box."""


def gather(calls: Iterable[RecordedCall], *, home: str, workspace: str) -> Evidence:
    """Return what the calls used; of those that were asked about or refused the tool alone."""
    found = Evidence()
    for call in calls:
        found.tools.setdefault(call.tool, Seen()).add(call)
        if call.effect != "allow":
            continue
        request = call.request
        if isinstance(request, WriteRequest | EditRequest):
            path = request.resolved or request.path
            found.writes.setdefault(path, Seen()).add(call)
        elif isinstance(request, ExecRequest | ProcessStart):
            analysis = analyse(request.command, cwd=request.cwd, home=home, workspace=workspace)
            _add_command(found, call, analysis)
    return found


def _add_command(found: Evidence, call: RecordedCall, analysis: Analysis) -> None:
    for path, _ in (*analysis.writes, *analysis.deletes):
        found.writes.setdefault(path, Seen()).add(call)
    for command in analysis.commands:
        for wrapper in command.wrappers:
            name = wrapper.rpartition("/")[2]
            found.uses.setdefault(Use(name, (), exact=False), Seen()).add(call, analysis.command)
        use = use_of(command)
        if use is not None:
            found.uses.setdefault(use, Seen()).add(call, analysis.command)


def use_of(command: SimpleCommand, *, whole: bool = False) -> Use | None:
    """Return the narrowest use that a rule can name and that stays useful; None if none can.

    A sub-command names itself (``git status``). What runs code or other programs is named with
    all its arguments or not at all, since any others could be any program. ``whole`` asks for all
    arguments in any case, as far as a rule can say them.
    """
    written = command.argv[0].value
    if written is None or command.program is None:
        return None
    program = written if "/" in written else command.program
    words = [word.value for word in command.argv[1:]]
    spec = find_program(command.program)
    runs_code = spec is not None and _runs_code(spec)
    if whole or runs_code:
        known = tuple(word for word in words if word is not None)
        sayable = len(known) == len(words) <= MOST_ARGS and all(_sayable(word) for word in known)
        if runs_code and not (sayable and known):
            return None
        return Use(program, known, exact=True) if sayable else Use(program, (), exact=False)
    sub = _sub_command(spec, words)
    return Use(program, (sub,) if sub else (), exact=False)


def _sayable(word: str) -> bool:
    """Say whether a rule can mean this word alone: stars in rules stand for anything."""
    return 0 < len(word) <= MOST_WORD and not {"*", "?"} & {*word}


def _runs_code(spec: Spec) -> bool:
    return bool(spec.stdin or spec.script or spec.shell or spec.wraps or spec.until)


def _sub_command(spec: Spec | None, words: list[str | None]) -> str:
    if spec is None or not spec.subs:
        return ""
    named = {name for names in spec.subs for name in names.split("|")}
    return next((word for word in words if word in named), "")
