"""Text and its syntax tree, with a way back from bytes of the tree to characters of the command.

tree-sitter counts UTF-8 bytes, nested code stands somewhere inside a quoted word, and a backslash
at a line's end vanishes before bash sees a word. ``Source.locate`` undoes all three.
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

_CONTINUATION = re.compile(rb"(?<!\\)((?:\\\\)*)\\\n")
_LITERAL_TYPES = frozenset({"raw_string", "ansi_c_string", "comment"})


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where nested code stands in the command: at ``span``, verbatim from ``start`` if known."""

    span: Span
    start: int | None


class Source:
    """One text that bash would parse, and its tree."""

    def __init__(self, text: str, anchor: Anchor | None = None) -> None:
        """Parse ``text``; line continuations are joined the way bash joins them."""
        self._text = text
        self._anchor = anchor
        data = text.encode("utf-8")
        root = _parser().parse(data).root_node
        self._cuts: list[int] = []
        if b"\\\n" in data:
            data, self._cuts = _join_lines(data, root)
            root = _parser().parse(data).root_node
        self.data = data
        self.root = root
        self._starts = None if text.isascii() else _char_starts(text)

    def text(self, start: int, end: int) -> str:
        """Return the parsed text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def of(self, node: Node) -> str:
        """Return the node's parsed text."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def locate(self, start: int, end: int) -> Span:
        """Return the span in the command for two byte offsets of the tree."""
        first, last = self._char(start), self._char(end)
        if self._anchor is None:
            return first, last
        if self._anchor.start is None:
            return self._anchor.span
        return self._anchor.start + first, self._anchor.start + last

    def span(self, node: Node) -> Span:
        """Return the node's span in the command."""
        return self.locate(node.start_byte, node.end_byte)

    def _char(self, offset: int) -> int:
        for index, cut in enumerate(self._cuts):
            if offset < cut:
                offset += 2 * index
                break
        else:
            offset += 2 * len(self._cuts)
        if self._starts is None:
            return offset
        return bisect_right(self._starts, offset) - 1


def _char_starts(text: str) -> list[int]:
    return [0, *accumulate(len(char.encode("utf-8")) for char in text)]


def _join_lines(data: bytes, root: Node) -> tuple[bytes, list[int]]:
    """Drop each backslash-newline outside literal text; return the rest and where pieces met."""
    literal = sorted(_literal_ranges(root))
    starts = [start for start, _ in literal]
    pieces: list[bytes] = []
    cuts: list[int] = []
    done = joined = 0
    for match in _CONTINUATION.finditer(data):
        at = match.end() - 2
        index = bisect_right(starts, at) - 1
        if index >= 0 and at < literal[index][1]:
            continue
        pieces.append(data[done:at])
        joined += at - done
        cuts.append(joined)
        done = at + 2
    pieces.append(data[done:])
    return b"".join(pieces), cuts


def _literal_ranges(root: Node) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _LITERAL_TYPES:
            found.append((node.start_byte, node.end_byte))
        elif node.type == "heredoc_redirect" and _quoted_heredoc(node):
            found.extend(
                (child.start_byte, child.end_byte)
                for child in node.children
                if child.type == "heredoc_body"
            )
            stack.extend(child for child in node.children if child.type != "heredoc_body")
        else:
            stack.extend(node.children)
    return found


def _quoted_heredoc(node: Node) -> bool:
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    text = start.text if start is not None else None
    return text is not None and any(mark in text for mark in (b"'", b'"', b"\\"))
