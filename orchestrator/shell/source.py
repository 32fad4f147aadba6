"""Text and its syntax tree, with a way back from bytes of the tree to characters of the command.

tree-sitter counts UTF-8 bytes, nested code stands somewhere inside a quoted word, and the text is
mended before it is parsed. ``Source.locate`` undoes all three.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from orchestrator.shell.analysis import Span
from orchestrator.shell.double_heredocs import part_heredocs
from orchestrator.shell.mending import (
    Edit,
    join_lines,
    open_coprocs,
    part_backticks,
    part_lines,
    undo_edits,
)

_MAX_MENDED = 20
"""Pairs of old-style substitutions that are parted; what is left over is reported as opaque."""


_WIDE = re.compile(rb"[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
"""Characters that the parser does not get to see, but as many bytes of plain word in their place:
its scanner looks them up in a table of 256 (``isdigit``), and dies of ``{`` before U+E0001. To bash
all of them are plain word too, also where Unicode knows a space or a letter."""


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _parse(data: bytes) -> Node:
    return _parser().parse(_WIDE.sub(_stand_in, data)).root_node


def _stand_in(match: re.Match[bytes]) -> bytes:
    return b"\xc2\xa4\xc2\xa4" if len(match[0]) == 4 else b"\xc2\xa4."


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where nested code stands in the command: at ``span``, verbatim from ``start`` if known."""

    span: Span
    start: int | None

    def place(self, first: int, last: int) -> Span:
        """Return the span of a part of the code; code that was changed on its way stays inside."""
        if self.start is None:
            return self.span
        least, most = self.span
        first, last = (min(max(self.start + at, least), most) for at in (first, last))
        return first, last


class Source:
    """One text that bash would parse, and its tree."""

    def __init__(self, text: str, anchor: Anchor | None = None) -> None:
        """Parse ``text``; lone surrogates must be gone."""
        self._anchor = anchor
        self._stages: list[list[Edit]] = []
        self.data = text.encode("utf-8")
        self.root = _parse(self.data)
        self._mend()
        self._starts = None if text.isascii() else _char_starts(text)

    def _mend(self) -> None:
        if self.data.count(b"<<") > 1:
            data, edits = part_heredocs(self.data)
            if edits:
                self._replace(data, edits)
        if b"\\\n" in self.data:
            self._replace(*join_lines(self.data, self.root))
        if b"\n\\" in self.data:
            self._replace(part_lines(self.data, self.root), [])
        if b"coproc" in self.data:
            self._replace(open_coprocs(self.data, self.root), [])
        if self.data.count(b"`") > 2:
            for _ in range(_MAX_MENDED):
                data, edits = part_backticks(self.data, self.root)
                if not edits:
                    break
                self._replace(data, edits)

    def _replace(self, data: bytes, edits: list[Edit]) -> None:
        self.data = data
        self.root = _parse(data)
        if edits:
            self._stages.append(edits)

    def text(self, start: int, end: int) -> str:
        """Return the parsed text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def of(self, node: Node) -> str:
        """Return the node's parsed text."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def locate(self, start: int, end: int) -> Span:
        """Return the span in the command for two byte offsets of the tree."""
        # The body of a heredoc may have been moved up into its line.
        first, last = sorted((self._char(start), self._char(end)))
        if self._anchor is None:
            return first, last
        return self._anchor.place(first, last)

    def span(self, node: Node) -> Span:
        """Return the node's span in the command."""
        return self.locate(node.start_byte, node.end_byte)

    def _char(self, offset: int) -> int:
        for edits in reversed(self._stages):
            offset = undo_edits(offset, edits)
        if self._starts is None:
            return offset
        return bisect_right(self._starts, offset) - 1


def _char_starts(text: str) -> list[int]:
    return [0, *accumulate(len(char.encode("utf-8")) for char in text)]
