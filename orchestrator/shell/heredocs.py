"""Code in heredoc bodies that the tree leaves as text.

tree-sitter knows no backticks there, and after ``<<-`` it takes what follows the first line's tabs
for text. bash expands both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orchestrator.shell.quoting import DYNAMIC

_CODE = re.compile(
    r"\\.|(?P<sub>\$\()|(?P<ticks>`(?:\\.|[^`\\])*`)|(?P<open>`)|(?P<value>\$\{[^}]*\}|\$\w+|\$[@*#?$!-])",
    re.DOTALL,
)
_UNESCAPED = re.compile(r"\\([$`\\])")


@dataclass(slots=True)
class Missed:
    """What a piece of text turns out to hold."""

    text: str
    """The piece, with U+FFFC in place of each expansion."""
    codes: list[str] = field(default_factory=list)
    """Shell text that runs."""
    broken: bool = False
    """An expansion that does not end."""


def find_missed(text: str) -> Missed:
    """Read the expansions in a piece of a heredoc body."""
    found = Missed("")
    at = 0
    while (match := _CODE.search(text, at)) is not None:
        if match.lastgroup is None:
            found.text += text[at : match.end()]
            at = match.end()
            continue
        found.text += text[at : match.start()] + DYNAMIC
        at = match.end()
        if match["sub"] is not None:
            at = _closing(text, match.end())
            found.broken = found.broken or at < 0
            if at < 0:
                return found
            found.codes.append(text[match.end() : at - 1])
        elif match["ticks"] is not None:
            found.codes.append(_UNESCAPED.sub(r"\1", match["ticks"][1:-1]))
        elif match["open"] is not None:
            found.broken = True
    found.text += text[at:]
    return found


def _closing(text: str, at: int) -> int:
    """Return the offset after the parenthesis that closes a substitution; -1 when none does."""
    depth = 1
    for index in range(at, len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index + 1
    return -1
