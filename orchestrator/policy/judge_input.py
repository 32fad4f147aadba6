"""Votes on what is typed into a process: as if its program had been started with it to read.

The program's earlier input is read along with the new, so that a directory, a variable or a
function of before is known; only what the new input adds is judged. A line that came in pieces is
judged from each piece on, since a program may have dropped what it had (a signal, a time-out).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Protocol

from orchestrator.policy.judge_command import command_votes
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.shell_lines import MAX_LINE, MAX_LINES, find_shell_lines, is_well_read
from orchestrator.schema.decision import Decision, Risk
from orchestrator.schema.request import ProcessInput, typed_subject
from orchestrator.shell.analysis import Analysis, Finding, Span

MAX_PENDING = 8
"""Pieces of one line that are judged; nobody types a line in more."""
MAX_READINGS = 2000
MAX_READ = 250_000
"""Characters read as shell lines; one input may hold many that overlap."""

_KEYS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""All control characters but the newline: a terminal edits, completes and recalls by them."""
_RECALLED = re.compile(r"![^\s=(\"']|^\^", re.MULTILINE)
"""History of a shell at a terminal: ``!r`` runs again what began with r."""
_RECALLS = re.compile(r"\s-\w*[iH]|\bhistexpand\b")
"""A started command that keeps a history without a terminal."""
_RECALLS_SINCE = re.compile(r"\bhistexpand\b|\bset\b[^\n;&|]*[ \t]-\w*H")
_REMAPPED = re.compile(
    r"\bhistchars\b|inputrc\b|\bbindkey\b"
    r"|\bstty\b(?![ \t]+(?:size|-?echo|(?:rows|cols|columns)[ \t]+\d+)[ \t]*(?:$|[;&|\n]))",
    re.IGNORECASE,
)
"""Makes plain characters edit, change or recall: ``stty erase X``, ``stty iuclc``."""
_DEFINED = re.compile(
    r"([\w-]+)[ \t]*\(\)|\bfunction[ \t]+([\w-]+)|\balias[ \t]+([\w-]+)|\bdef[ \t]+(\w+)|\b(\w+)[ \t]*="
)
_WORD = re.compile(r"[\w-]+")
_HINT = "send whole lines or statements in one input"


class Reader(Protocol):
    """Reads a command line; ``orchestrator.shell.analyse.analyse`` or a cache before it."""

    def __call__(self, command: str, *, cwd: str, home: str, workspace: str) -> Analysis:
        """Return everything known of the command."""
        ...


def input_votes(
    layers: tuple[Layer, ...], request: ProcessInput, *, box: BoxPaths, read: Reader
) -> tuple[list[Decision], tuple[Risk, ...]]:
    """Return every vote on the input, spans in terms of ``typed_subject``, and the risks found."""
    judge = _Judge(layers, request, box=box, read=read)
    pieces = (*request.pending[-MAX_PENDING:], request.text)
    votes = judge.of_keys()
    for first in range(len(pieces)):
        typed = "".join(pieces[first:])
        plain = _KEYS.sub(" ", typed) if request.terminal else typed
        votes += judge.as_input(plain)
        votes += judge.as_shell(plain)
    return votes, tuple(judge.risks)


class _Judge:
    """Collects the votes on one input."""

    def __init__(
        self, layers: tuple[Layer, ...], request: ProcessInput, *, box: BoxPaths, read: Reader
    ) -> None:
        self._layers = layers
        self._request = request
        self._box = box
        self._read = read
        self._subject, self._typed_at = typed_subject(request)
        self.risks: dict[Risk, None] = {}

    def of_keys(self) -> list[Decision]:
        """Vote on what makes an input more than its text."""
        request, reasons = self._request, []
        if len(request.pending) > MAX_PENDING:
            reasons.append(f"a line that was typed in more than {MAX_PENDING} pieces")
        if request.text.count("\n") > MAX_LINES:
            reasons.append(f"more than {MAX_LINES} lines")
        if request.terminal and _KEYS.search(request.text):
            reasons.append("keys that edit or recall a line: what runs is not what the text says")
        if self._recalls() and _RECALLED.search("".join((*request.pending, request.text))):
            reasons.append("may run an earlier line again, or a shell line of its program")
        if _REMAPPED.search(f"{request.command}\n{request.typed}{request.text}"):
            reasons.append(
                "its terminal or its history was set to take plain characters for others"
            )
        if request.unread:
            reasons.append(
                "an earlier input could not be read, so what this one means is not known"
            )
        if request.command.endswith("\\"):
            reasons.append("its command ends in a backslash, so that it is not known what reads")
        return self._opaque(reasons)

    def _recalls(self) -> bool:
        """Say whether the program may keep a history of lines."""
        request = self._request
        if request.terminal or _RECALLS.search(request.command):
            return True
        return _RECALLS_SINCE.search(request.typed + request.text) is not None

    def as_input(self, typed: str) -> list[Decision]:
        """Vote on what the input adds to the script that the program has read so far."""
        request, at = self._request, len(self._subject) - len(typed)
        delimiter = _delimiter(request.typed + typed)
        before, _ = _script(request, request.typed, delimiter)
        after, body_at = _script(request, request.typed + typed, delimiter)
        known, found = self._analysis(before), self._analysis(after)
        if _defined_in(request.typed) & set(_WORD.findall(typed)):
            # What was defined before may be used now, and is found where it was defined.
            known = replace(known, findings=(), writes=(), deletes=(), reads=())
        typed_from = body_at + len(request.typed)

        def moved(span: Span) -> Span:
            start, end = (min(max(place - typed_from, 0), len(typed)) for place in span)
            # What stands before the input, a function say, is told of all of it.
            return (start + at, end + at) if start < end else (at, at + len(typed))

        seen = {(command.span, command.program) for command in known.commands}
        new = [item for item in found.commands if (item.span, item.program) not in seen]
        return self._votes(
            Analysis(
                command=self._subject,
                # A program that only takes data is voted on again itself.
                commands=tuple(
                    replace(item, span=moved(item.span)) for item in new or known.commands
                ),
                findings=tuple(
                    replace(item, span=moved(item.span), hint=item.hint or _hint(item))
                    for item in found.findings
                    if item not in known.findings
                ),
                writes=tuple((p, moved(at_)) for p, at_ in set(found.writes) - set(known.writes)),
                deletes=tuple(
                    (p, moved(at_)) for p, at_ in set(found.deletes) - set(known.deletes)
                ),
                reads=tuple((p, moved(at_)) for p, at_ in set(found.reads) - set(known.reads)),
            )
        )

    def as_shell(self, typed: str) -> list[Decision]:
        """Vote on the input as shell lines, whatever reads it: many programs can run those.

        Only what is surely a risk counts, since most texts are no shell lines.
        """
        at = len(self._subject) - len(typed)
        votes: list[Decision] = []
        strings = not self._well_read()
        lines, left = 0, MAX_READ
        if strings and max(map(len, typed.split("\n"))) > MAX_LINE:
            votes += self._opaque([f"a line of more than {MAX_LINE} characters"])
            strings = False
        for line, offset, surely in find_shell_lines(typed, strings=strings):
            lines, left = lines + 1, left - len(line)
            if left < 0 or lines > MAX_READINGS:
                votes += self._opaque(["too much that may run as a shell line"])
                break
            found = self._analysis(line)
            start = at + offset
            votes += self._votes(
                Analysis(
                    command=self._subject,
                    commands=tuple(
                        replace(item, span=_shifted(item.span, start)) for item in found.commands
                    ),
                    findings=tuple(
                        replace(item, span=_shifted(item.span, start))
                        for item in found.findings
                        if surely or item.risk not in {"opaque", "evasion"}
                    ),
                    writes=tuple((path, _shifted(span, start)) for path, span in found.writes),
                    deletes=tuple((path, _shifted(span, start)) for path, span in found.deletes),
                    reads=tuple((path, _shifted(span, start)) for path, span in found.reads),
                )
            )
        return [vote for vote in votes if vote.effect != "allow" and not _is_default(vote)]

    def _opaque(self, reasons: list[str]) -> list[Decision]:
        """Vote on why the input cannot be told from its text."""
        if not reasons:
            return []
        whole = (self._typed_at, len(self._subject))
        findings = tuple(
            Finding("opaque", reason, whole, severity="high", hint=_HINT) for reason in reasons
        )
        return self._votes(Analysis(self._subject, (), findings))

    def _well_read(self) -> bool:
        started, _ = _script(self._request, "", _delimiter(""))
        return is_well_read(item.program for item in self._analysis(started).commands)

    def _votes(self, analysis: Analysis) -> list[Decision]:
        self.risks |= dict.fromkeys(finding.risk for finding in analysis.findings)
        return list(command_votes(self._layers, analysis, box=self._box))

    def _analysis(self, script: str) -> Analysis:
        box = self._box
        return self._read(script, cwd=self._request.cwd, home=box.home, workspace=box.workspace)


def _script(request: ProcessInput, body: str, delimiter: str) -> tuple[str, int]:
    """Return the started command with its input as a here-document, and where that begins."""
    head = f"{{ {request.command}\n}} <<'{delimiter}'\n"
    return f"{head}{body}\n{delimiter}\n", len(head)


def _delimiter(body: str) -> str:
    lines, number = set(body.split("\n")), 0
    while f"INPUT{number}" in lines:
        number += 1
    return f"INPUT{number}"


def _defined_in(text: str) -> set[str]:
    return {name for match in _DEFINED.finditer(text) for name in match.groups() if name}


def _hint(finding: Finding) -> str:
    return _HINT if finding.risk == "opaque" else ""


def _shifted(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def _is_default(vote: Decision) -> bool:
    return vote.rule.startswith("default") or vote.rule == "unmatched"
