"""What a request amounts to: effects in plain words, acts that can be told again, a pattern.

A pattern is offered for one plain command of a program that is known to run nothing else. Wrappers
and interpreters (``env``, ``sudo``, ``xargs``, ``ssh``, ``sh -c``, ``python -c``, awk) have none:
to say yes to them in general would be to say yes to anything.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from orchestrator.policy.acts import acts_of
from orchestrator.policy.judge_input import Reader
from orchestrator.policy.layer import BoxPaths
from orchestrator.policy.pattern import pattern_of, plain_line, real_commands
from orchestrator.policy.targets import coarse_act
from orchestrator.schema.ids import digest_of
from orchestrator.schema.likeness import Act, Likeness
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FileRequest,
    GrepRequest,
    ProcessInput,
    ProcessStart,
    Request,
    WriteRequest,
    file_access,
    typed_subject,
)
from orchestrator.shell.analyse import analyse
from orchestrator.shell.analysis import Analysis, SimpleCommand

MAX_LINE = 200
"""Characters of one effect; the command itself is always shown whole."""
SHOWN = 12
"""Lines of one kind of effect; the rest is told as a count."""


def liken(box: BoxPaths, request: Request, *, read: Reader = analyse) -> Likeness:
    """Return what the request amounts to; a command is read as the gate reads it."""
    if isinstance(request, ExecRequest | ProcessStart):
        return _command(box, request, read)
    if isinstance(request, ProcessInput):
        typed = typed_subject(request)[0]
        act = Act(request.kind, request.handle, operands=(" ".join(typed.split()),))
        return Likeness((f"types into the process {request.handle}: {request.command}",), (act,))
    if isinstance(request, FileRequest):
        return _file(request)
    handle = str(getattr(request, "handle", ""))
    return Likeness((f"{request.kind.replace('_', ' ')} {handle}".strip(),), ())


def _command(box: BoxPaths, request: ExecRequest | ProcessStart, read: Reader) -> Likeness:
    analysis = read(request.command, cwd=request.cwd, home=box.home, workspace=box.workspace)
    line = plain_line(analysis)
    wrapped = len(analysis.commands) > 1
    pattern = pattern_of(line, wrapped=wrapped) if line is not None else None
    effects = list(_effects(analysis, request.cwd))
    if isinstance(request, ProcessStart):
        effects.insert(0, f"stays in the background as {request.handle}")
    return Likeness(tuple(effects), tuple(acts_of(analysis, tell=coarse_act)), line, pattern)


def _effects(analysis: Analysis, cwd: str) -> Iterator[str]:
    runs = [_run(command, cwd) for command in real_commands(analysis)]
    # What stands there already, word by word, needs no second telling.
    if runs != [f"runs {analysis.command.strip()}"]:
        yield from _listed(runs)
    yield from _listed([f"writes {path}" for path, _ in analysis.writes])
    yield from _listed([f"reads {path}" for path, _ in analysis.reads])
    yield from _listed([f"{finding.risk}: {finding.reason}" for finding in analysis.findings])


def _run(command: SimpleCommand, cwd: str) -> str:
    there = f" (in {command.cwd})" if command.cwd not in {None, cwd} else ""
    words = (shlex.quote(w.value) if w.value is not None else "…" for w in command.argv)
    return f"runs {' '.join((*command.wrappers, *words))}{there}"


def _listed(lines: list[str]) -> Iterator[str]:
    found = [_cut(line) for line in dict.fromkeys(lines)]
    yield from found[:SHOWN]
    if len(found) > SHOWN:
        yield f"and {len(found) - SHOWN} more of the kind"


def _cut(line: str) -> str:
    more = len(line) - MAX_LINE
    return f"{line[:MAX_LINE]} … {more} characters more" if more > 0 else line


def _file(request: FileRequest) -> Likeness:
    path = request.resolved or request.path
    if isinstance(request, WriteRequest):
        lines = request.content.count("\n") + (not request.content.endswith("\n"))
        said = (
            f"writes {path}: {lines} lines, {len(request.content.encode('utf-8', 'replace'))} bytes"
        )
        content = " ".join(request.content.split())
    elif isinstance(request, EditRequest):
        said = f"changes {len(request.edits)} places in {path}"
        content = " ".join(" ".join(f"{e.old}\0{e.new}".split()) for e in request.edits)
    else:
        said = f"searches below {path}" if isinstance(request, GrepRequest) else f"reads {path}"
        content = ""
    told = digest_of(content.encode("utf-8", "replace"))
    act = Act(file_access(request), request.kind, operands=(path, told))
    return Likeness((said,), (act,))
