"""What a command really started, against what its text let policy foresee.

Text cannot tell what ``make`` or a script will run. The box sees it; this judges it as if it had
been asked for: a program is unexpected where policy would have asked or refused, and the command
that was judged does not show it with these arguments. What an approved program starts in turn
belongs to it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace

from orchestrator.policy.shown import Shown
from orchestrator.schema.decision import Decision
from orchestrator.schema.exec_record import ExecSeen
from orchestrator.schema.request import ExecRequest, ProcessStart
from orchestrator.shell.analyse import analyse
from orchestrator.shell.programs import find_program

JudgeCommand = Callable[[ExecRequest], Decision]
"""Policy bound to a session; never raises."""

UNSEEN = "unseen"
"""Rule of what is unexpected because nobody can tell what it was."""
OVERFLOW = "it started more different programs than can be looked at"
_OF_THE_TEXT = frozenset({"opaque", "evasion", "exhaustion"})
"""Risks of a text that a person is to read; what was started is no such text any more."""
_MOST_KNOWN = 4096
_MOST_TEXTS = 256
"""Commands beside the first that are expected at a time."""
MOST_JUDGED = 4 * 1024 * 1024
"""Characters of one command's starts that are read; reading costs the host up to 4 µs each."""
_REST = '"$REST" "$REST"'
"""Stands for arguments that were cut off: the gate then judges what is open in it. Twice, since the
first may be the value of the option before it."""
_OWN_PARTS = {
    "git": ("git-upload-pack", "git-receive-pack", "git-upload-archive"),
    "python3": ("python3 -m ensurepip",),
    "python": ("python -m ensurepip", "python3 -m ensurepip"),
}
"""What a program starts of its own, though it is risky when a command asks for it: git serves one
directory to another, a new virtual environment gets the pip that Python brought along."""


class ExecJudge:
    """One session's; remembers what it was asked."""

    def __init__(self, judge: JudgeCommand) -> None:
        """``judge`` decides on a command as on one that a model asks for."""
        self._judge = judge
        self._known: dict[tuple[str, str], Decision | None] = {}

    def expect(self, request: ExecRequest | ProcessStart) -> Expectation:
        """Return what a command that may run is expected to start."""
        return Expectation(self, request)

    def knows(self, text: str, cwd: str) -> bool:
        """Say whether the decision is remembered, so that asking costs nothing."""
        return (text, cwd) in self._known

    def decide(self, text: str, cwd: str, *, cut: bool = False) -> Decision | None:
        """Return the decision on a program with its arguments where it is not to allow."""
        key = (text, cwd)
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = self._asked(text, cwd, cut=cut)
        return self._known[key]

    def _asked(self, text: str, cwd: str, *, cut: bool) -> Decision | None:
        decision = self._judge(ExecRequest(text, cwd, 1.0))
        only_text = bool(decision.risks) and _OF_THE_TEXT.issuperset(decision.risks)
        # That nothing is said of a program makes nobody ask about what it is started by.
        unsaid = decision.rule == "default"
        harmless = decision.effect == "allow" or unsaid or (only_text and not cut)
        return None if harmless else decision


class Expectation:
    """What one command is expected to start; ``unforeseen`` is asked in the order of the starts."""

    def __init__(self, judge: ExecJudge, request: ExecRequest | ProcessStart) -> None:
        self._judge = judge
        self._cwd = request.cwd
        self._texts = [(request.command, request.cwd)]
        self._shown: list[Shown] = []
        self._covered: dict[int, str] = {}
        """The file of each expected program, by process: a start may have failed."""
        self._names: dict[int, str] = {}
        self._left = MOST_JUDGED

    def also(self, request: ExecRequest) -> None:
        """Expect what a further command starts, which may run too; of many, the newest count."""
        self._texts.append((request.command, request.cwd))
        if len(self._texts) > _MOST_TEXTS:
            del self._texts[1]
            if len(self._shown) > 1:
                del self._shown[1]

    def allow_more(self, characters: int) -> None:
        """Let so much more be read, up to what a new command has."""
        self._left = min(MOST_JUDGED, self._left + characters)

    def unforeseen(self, seen: ExecSeen) -> Decision | None:
        """Return policy's decision on what was started; None where that is no surprise."""
        if seen.unreadable:
            return unseen("the process lets nobody read what it starts")
        if self._belongs(seen):
            self._cover(seen)
            return None
        if _is_own_part(self._starter(seen), seen):
            return None
        if seen.real.startswith("/memfd:"):
            return unseen("starts a program that is no file of the box")
        for text in _readings(seen):
            if not self._judge.knows(text, self._cwd):
                self._left -= len(text)
            if self._left < 0:
                return unseen(OVERFLOW)
            decision = self._judge.decide(text, self._cwd, cut=seen.cut)
            if decision is None:
                continue
            if seen.cut or not self._is_shown(text):
                return replace(decision, span=None)
            self._cover(seen)
        return None

    def _belongs(self, seen: ExecSeen) -> bool:
        """Say whether an expected program asks for it: the file that runs is really that one."""
        mine = {self._covered.get(seen.pid), self._covered.get(seen.parent)} - {None}
        return bool(seen.by) and seen.by in mine

    def _cover(self, seen: ExecSeen) -> None:
        # Of a script, what runs is its interpreter; which file that is, is not told.
        if not seen.lines:
            self._covered[seen.pid] = seen.real

    def _starter(self, seen: ExecSeen) -> str:
        starter = self._names.get(seen.parent, "")
        spec = find_program(seen.name)
        # A shell between the two passes on who started it.
        self._names[seen.pid] = starter if spec is not None and spec.shell else seen.name
        return starter

    def _is_shown(self, text: str) -> bool:
        """Say whether a command's own text shows it; read only when it matters, as few do."""
        for shown, cwd in self._texts[len(self._shown) :]:
            self._shown.append(Shown(analyse(shown, cwd=cwd)))
        started = analyse(text, cwd=self._cwd)
        return any(one.covers(started) for one in self._shown)


def unseen(reason: str) -> Decision:
    """Return the decision on what nobody can tell."""
    return Decision(effect="ask", rule=UNSEEN, layer="floor", reason=reason)


def _is_own_part(starter: str, seen: ExecSeen) -> bool:
    words = [seen.name, *seen.argv[1:]]
    if words[1:2] == ["-c"] and words[2:]:
        words = words[2].split()
    text = " ".join(words)
    return any(f"{text} ".startswith(f"{part} ") for part in _OWN_PARTS.get(starter, ()))


def _readings(seen: ExecSeen) -> Iterator[str]:
    """Yield it as a command: by each name it goes by, and by a script's interpreter."""
    names: dict[str, str] = {}
    own = seen.argv[0].removeprefix("-") if seen.argv else ""
    for name in (seen.path, own, "" if seen.lines else seen.real):
        if name:
            names.setdefault(_base(name), name)
    rest = f" {_REST}" if seen.cut else ""
    for name in names.values() or ("?",):
        yield shlex.join((name, *seen.argv[1:])) + rest
    script = [seen.path, *seen.argv[1:]]
    for line in seen.lines:
        program, _, option = line.strip().partition(" ")
        script = [program, *([option.strip()] if option.strip() else []), *script]
        yield shlex.join(script) + rest


def _base(program: str) -> str:
    return program.rpartition("/")[2]
