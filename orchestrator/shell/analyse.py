"""The door of this package: a command line in, everything it would do out."""

from __future__ import annotations

from orchestrator.shell.analysis import Analysis, Finding
from orchestrator.shell.braces import TooManyWordsError
from orchestrator.shell.reading import OverLimitError, Reading
from orchestrator.shell.scope import Places, Scope
from orchestrator.shell.second_reading import judge_second_reading
from orchestrator.shell.setting import Code, Setting, Site
from orchestrator.shell.source import Anchor
from orchestrator.shell.text import find_evasion
from orchestrator.shell.walk import Reader

MAX_CHARACTERS = 100_000
"""A longer command is not read at all: no person would read it either."""


def analyse(
    command: str,
    *,
    cwd: str = "/workspace",
    home: str = "/home/agent",
    workspace: str = "/workspace",
) -> Analysis:
    """Return what ``command`` would run, write and risk; never raises for any text."""
    reading = Reading()
    for finding in find_evasion(command[:MAX_CHARACTERS]):
        _add(reading, finding)
    everything = (0, len(command))
    if len(command) > MAX_CHARACTERS:
        reading.report("opaque", f"longer than {MAX_CHARACTERS} characters", everything)
    elif "\0" in command or not _is_encodable(command):
        reading.report("opaque", "text that no shell can be given", everything)
    else:
        places = Places(home, workspace)
        scope = Scope(places, cwd, positional=("bash",))
        _read(command, scope, reading)
        if scope.doubts:
            # A variable set in a branch is unknown after it; here it is what the branch made it.
            again = Reading()
            _read(command, Scope(places, cwd, positional=("bash",), optimistic=True), again)
            for finding in again.findings.values():
                _add(reading, finding)
    return Analysis(
        command=command,
        commands=tuple(reading.commands),
        findings=tuple(reading.findings.values()),
        writes=tuple(reading.writes),
        deletes=tuple(reading.deletes),
        trees=tuple(reading.trees),
        reads=tuple(reading.reads),
    )


def _read(command: str, scope: Scope, reading: Reading) -> None:
    everything = (0, len(command))
    site = Site(Setting(), scope, reading, Reader())
    try:
        site.nested.shell(Code(command, Anchor(everything, 0)), site)
        reading.read_uncalled()
        judge_second_reading(reading)
    except (OverLimitError, TooManyWordsError) as err:
        reading.report("opaque", f"too large to be read: {err}", everything)
    except RecursionError:
        reading.report("opaque", "nested too deeply to be read", everything)


def _add(reading: Reading, finding: Finding) -> None:
    reading.findings.setdefault((finding.risk, finding.span, finding.reason), finding)


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
