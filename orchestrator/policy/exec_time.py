"""What a command really started, against what its text let policy foresee.

Text cannot tell what ``make`` or a script will run. The box sees it; this judges it as if it had
been asked for: a program is unexpected where policy would have asked or refused, and nothing in
the command that was judged showed it. What an approved program starts in turn belongs to it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace

from orchestrator.schema.decision import Decision
from orchestrator.schema.exec_record import ExecSeen
from orchestrator.schema.request import ExecRequest, ProcessStart
from orchestrator.shell.analyse import analyse
from orchestrator.shell.analysis import SimpleCommand

JudgeCommand = Callable[[ExecRequest], Decision]
"""Policy bound to a session; never raises."""

UNSEEN = "unseen"
"""Rule of what is unexpected because nobody can tell what it was."""
_OF_THE_TEXT = frozenset({"opaque", "evasion", "exhaustion"})
"""Risks of a text that a person is to read; what was started is no such text any more."""
_MOST_KNOWN = 4096
_OWN_PARTS = {
    "git": ("git-upload-pack", "git-receive-pack", "git-upload-archive"),
    "python3": ("python3 -m ensurepip",),
    "python": ("python -m ensurepip", "python3 -m ensurepip"),
}
"""What a program starts of its own, though it is risky when a command asks for it: git serves one
directory to another, a new virtual environment gets the pip that Python brought along."""
_SHELLS = frozenset({"sh", "bash", "dash"})

_Key = tuple[str, str, str]
"""Program, rule and layer."""


class ExecJudge:
    """One session's; remembers what it was asked."""

    def __init__(self, judge: JudgeCommand) -> None:
        """``judge`` decides on a command as on one that a model asks for."""
        self._judge = judge
        self._known: dict[tuple[str, str], Decision | None] = {}

    def expect(self, request: ExecRequest | ProcessStart) -> Expectation:
        """Return what a command that may run is expected to start."""
        return Expectation(self, request)

    def decide(self, words: tuple[str, ...], cwd: str) -> Decision | None:
        """Return the decision on a program with these arguments where it is not to allow."""
        text = shlex.join(words)
        key = (text, cwd)
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = self._asked(text, cwd)
        return self._known[key]

    def _asked(self, text: str, cwd: str) -> Decision | None:
        decision = self._judge(ExecRequest(text, cwd, 1.0))
        only_text = bool(decision.risks) and _OF_THE_TEXT.issuperset(decision.risks)
        # That nothing is said of a program makes nobody ask about what it is started by.
        unsaid = decision.rule == "default"
        return None if decision.effect == "allow" or only_text or unsaid else decision


class Expectation:
    """What one command is expected to start; ``unforeseen`` is asked in the order of the starts."""

    def __init__(self, judge: ExecJudge, request: ExecRequest | ProcessStart) -> None:
        self._judge = judge
        self._cwd = request.cwd
        self._text = request.command
        self._shown: set[_Key] = set()
        self._shown_whole: set[str] = set()
        self._covered: set[int] = set()
        self._names: dict[int, str] = {}
        self._read = False

    def unforeseen(self, seen: ExecSeen) -> Decision | None:
        """Return policy's decision on what was started; None where that is no surprise."""
        if seen.parent in self._covered or seen.pid in self._covered:
            self._covered.add(seen.pid)
            return None
        starter = self._names.get(seen.parent, "")
        shell = _base(seen.path) in _SHELLS
        # A shell between the two passes on who started it.
        self._names[seen.pid] = starter if shell else _base(seen.path)
        if _is_own_part(starter, seen):
            return None
        if seen.unreadable:
            return _UNREADABLE
        for words in _readings(seen):
            decision = self._judge.decide(words, self._cwd)
            if decision is None:
                continue
            if not self._is_shown(words[0], decision):
                return replace(decision, span=None)
            self._covered.add(seen.pid)
        return None

    def _is_shown(self, program: str, decision: Decision) -> bool:
        """Say whether the command's own text names it; read only when it matters, as few do."""
        if not self._read:
            self._read = True
            self._read_text()
        name = _base(program)
        return name in self._shown_whole or (name, decision.rule, decision.layer) in self._shown

    def _read_text(self) -> None:
        for command in analyse(self._text, cwd=self._cwd).commands:
            for wrapper in command.wrappers:
                self._shown_whole.add(_base(wrapper))
            words = _static(command)
            if words is None:
                # Whoever let it run knew that its arguments are open.
                if command.program is not None:
                    self._shown_whole.add(command.program)
            elif (decision := self._judge.decide(words, self._cwd)) is not None:
                self._shown.add((_base(words[0]), decision.rule, decision.layer))


_UNREADABLE = Decision(
    effect="ask",
    rule=UNSEEN,
    layer="floor",
    reason="the process lets nobody read what it starts",
)


def _is_own_part(starter: str, seen: ExecSeen) -> bool:
    words = [_base(seen.path), *seen.argv[1:]]
    if words[1:2] == ["-c"] and words[2:]:
        words = words[2].split()
    text = " ".join(words)
    return any(f"{text} ".startswith(f"{part} ") for part in _OWN_PARTS.get(starter, ()))


def _readings(seen: ExecSeen) -> tuple[tuple[str, ...], ...]:
    """Return it by the file's name, and by the name it gives itself where that is another."""
    by_path = (seen.path or "?", *seen.argv[1:])
    if not seen.argv or _base(seen.argv[0].removeprefix("-")) == _base(seen.path):
        return (by_path,)
    return (by_path, (seen.argv[0], *seen.argv[1:]))


def _static(command: SimpleCommand) -> tuple[str, ...] | None:
    words = [word.value for word in command.argv if not word.glob]
    if len(words) < len(command.argv):
        return None
    known = [word for word in words if word is not None]
    return tuple(known) if known and len(known) == len(words) else None


def _base(program: str) -> str:
    return program.rpartition("/")[2]
