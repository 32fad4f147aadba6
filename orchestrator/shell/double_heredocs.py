"""Several heredocs on one line, which tree-sitter cannot read: each becomes a here-string.

Only lines that can be divided without a doubt are rewritten, from the first line on; at the first
other line the work ends, and what the parser then stumbles over stays opaque.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orchestrator.shell.mending import Edit

_PIECE = re.compile(
    r"(?P<here>(?<!<)<<(?P<strip>-?)[ \t]*(?P<mark>'[\w.-]+'|\"[\w.-]+\"|[\w.-]+)(?=[\s;|&)<>]|$))"
    r"|'[^'\n]*'|\"[^\"\n`\\$]*\"|\$\w+|\$\{\w+\}|<<<|(?<!\s)\#|(?<![(<>$=])\((?!\()|\)"
    r"|[^'\"`\\$()#<\n]|<(?![<(])"
)
_EXPANDED = re.compile(r"[$`\\]")
_PLAIN_VALUE = re.compile(r"\$\w+")


@dataclass(slots=True)
class _Here:
    start: int
    end: int
    mark: str
    quoted: bool
    strip: bool
    body: str = ""
    size: int = 0
    """Bytes of the body with its last line."""


@dataclass(slots=True)
class _Rewriting:
    """The new text, piece by piece, with the way back."""

    text: list[str] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    length: int = 0
    changed: bool = False

    def add(self, piece: str, old: int) -> None:
        """Append a piece that stood at the byte offset ``old``."""
        self.edits.append(Edit(self.length, old - self.length))
        self.text.append(piece)
        self.length += len(piece.encode())


def part_heredocs(data: bytes) -> tuple[bytes, list[Edit]]:
    """Return the text with here-strings for heredocs that share a line, and how to trace back."""
    lines = data.decode().splitlines(keepends=True)
    made = _Rewriting()
    offset = at = 0
    while at < len(lines):
        heres = _heredocs_in(lines[at])
        end = _read_bodies(heres, lines, at + 1) if heres is not None else None
        if heres is None or end is None:
            break
        if len(heres) > 1:
            if not _rewrite(lines[at], heres, made, offset=offset):
                break
        else:
            made.add("".join(lines[at:end]), offset)
        offset += sum(len(line.encode()) for line in lines[at:end])
        at = end
    if not made.changed:
        return data, []
    made.add("".join(lines[at:]), offset)
    return "".join(made.text).encode(), made.edits


def _heredocs_in(line: str) -> list[_Here] | None:
    """Return the heredocs that begin on a line; None when it cannot be divided for certain."""
    found: list[_Here] = []
    at = 0
    while at < len(line.rstrip("\n")):
        match = _PIECE.match(line, at)
        if match is None:
            return None
        if match["here"]:
            mark = match["mark"]
            quoted = mark[0] in "'\""
            found.append(_Here(at, match.end(), mark.strip("'\""), quoted, match["strip"] == "-"))
        at = match.end()
    return found


def _read_bodies(heres: list[_Here], lines: list[str], at: int) -> int | None:
    """Give each heredoc its content; return the line after the last, None when one does not end."""
    for here in heres:
        while True:
            if at >= len(lines):
                return None
            line = lines[at].lstrip("\t") if here.strip else lines[at]
            here.size += len(lines[at].encode())
            at += 1
            if line.rstrip("\n") == here.mark:
                break
            here.body += line
    return at


def _rewrite(line: str, heres: list[_Here], made: _Rewriting, *, offset: int) -> bool:
    """Add the line with here-strings; say whether every body could be quoted."""
    words = [_quoted(here) for here in heres]
    body_at = offset + len(line.encode())
    done = 0
    if None in words:
        return False
    for here, word in zip(heres, words, strict=True):
        made.add(line[done : here.start] + "<<< ", offset + len(line[:done].encode()))
        made.add(word or "", body_at - 1)
        body_at += here.size
        done = here.end
    made.add(line[done:], offset + len(line[:done].encode()))
    made.changed = True
    return True


def _quoted(here: _Here) -> str | None:
    """Return a heredoc's content as one word; None where its expansions are not plain."""
    body = here.body.removesuffix("\n")
    if here.quoted or not _EXPANDED.search(body):
        return "'" + body.replace("'", "'\\''") + "'"
    if _EXPANDED.search(_PLAIN_VALUE.sub("", body)):
        return None
    return '"' + body.replace('"', '\\"') + '"'
