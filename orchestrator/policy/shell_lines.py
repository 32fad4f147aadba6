"""The parts of a typed text that may run as shell lines, whatever program reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_LINES = 1000
"""Lines of one input."""
MAX_LINE = 4000
"""Characters of a line whose quoted texts are looked for."""

_ESCAPED = re.compile(r"(?:!|\b(?:shell|system|exec|spawn)[ \t])(?=[ \t]*([^\s=!].*))")
"""How pagers, editors, debuggers and database clients run a shell line."""
_QUOTED = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n])*)\1""")
"""How a language that the gate does not read hands one to a shell."""
_WELL_READ = re.compile(r"(?:ba|da|z|k)?sh|(?:python|pypy|node)[\d.]*|ipython3?|cd|export")
"""Programs whose input is taken apart; a text in it is no command there."""


class ShellLine(NamedTuple):
    """One text, and where in the input it starts."""

    text: str
    start: int
    surely: bool
    """The program is told to run it; otherwise it may be any text."""


def is_well_read(programs: Iterable[str | None]) -> bool:
    """Say whether the gate takes the input of all these programs apart."""
    return all(name is not None and _WELL_READ.fullmatch(name) for name in programs)


def find_shell_lines(typed: str, *, strings: bool) -> Iterator[ShellLine]:
    """Yield the whole, each line, what follows an escape to the shell, and perhaps quoted texts."""
    yield ShellLine(typed, 0, surely=False)
    offset = 0
    # A line that no shell understands is dropped, and the next one read afresh.
    for line in typed.split("\n")[:MAX_LINES]:
        if line.strip() and line != typed:
            yield ShellLine(line, offset, surely=False)
        for match in _ESCAPED.finditer(line):
            surely = not line[: match.start()].strip(":\\. \t")
            yield ShellLine(match[1], offset + match.start(1), surely)
        for match in _QUOTED.finditer(line) if strings else ():
            yield ShellLine(match[2], offset + match.start(2), surely=False)
        offset += len(line) + 1
