"""Small rewrites of command text that bring tree-sitter's reading in line with bash's.

Each finds its place in the tree of the text as it was, returns the text to parse instead, and the
edits with which an offset can be traced back. None changes what bash would do.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

_CONTINUATION = re.compile(rb"(?<!\\)((?:\\\\)*)\\\n")
_LINE_START = re.compile(rb"\n\\(?=[\w./-])")
_OPENERS = frozenset({b"{", b"while", b"until", b"for", b"if", b"case", b"select", b"[["})
_LITERAL_TYPES = frozenset({"raw_string", "ansi_c_string", "comment"})
_NOTHING = b'""'


@dataclass(frozen=True, slots=True)
class Edit:
    """From ``at`` on, in the new text, offsets are ``shift`` less than in the old."""

    at: int
    shift: int


def undo_edits(offset: int, edits: list[Edit]) -> int:
    """Return where an offset of the new text was in the old."""
    shift = 0
    for edit in edits:
        if edit.at > offset:
            break
        shift = edit.shift
    return offset + shift


def join_lines(data: bytes, root: Node) -> tuple[bytes, list[Edit]]:
    """Drop each backslash-newline outside literal text, as bash does before all else."""
    literal = sorted(_literal_ranges(root))
    starts = [start for start, _ in literal]
    pieces: list[bytes] = []
    edits: list[Edit] = []
    done = joined = 0
    for match in _CONTINUATION.finditer(data):
        at = match.end() - 2
        index = bisect_right(starts, at) - 1
        if index >= 0 and at < literal[index][1]:
            continue
        pieces.append(data[done:at])
        joined += at - done
        done = at + 2
        edits.append(Edit(joined, done - joined))
    pieces.append(data[done:])
    return b"".join(pieces), edits


def part_lines(data: bytes, root: Node) -> bytes:
    """Blank a backslash that starts a line before a plain character, where it means nothing.

    tree-sitter reads a newline, a backslash and a letter as one word: a command on the next line
    that is spelled with a leading backslash would be an argument of the one before.
    """
    mended = bytearray(data)
    for node in _walk(root):
        if node.type == "word" and not node.child_count:
            for match in _LINE_START.finditer(data, node.start_byte, node.end_byte):
                mended[match.end() - 1] = ord(" ")
    return bytes(mended)


def open_coprocs(data: bytes, root: Node) -> bytes:
    """Write ``coproc NAME {`` as a pipeline, which tree-sitter knows; as long as before.

    What comes first only says that the block's input is not in the command.
    """
    mended = bytearray(data)
    for node in _walk(root):
        if node.type != "command" or node.children[0].text != b"coproc":
            continue
        words = node.children[1:3]
        opener = next((i for i, word in enumerate(words) if _opens_block(word)), None)
        if opener is not None:
            start, end = node.start_byte, words[opener].start_byte
            mended[start:end] = b"who |".ljust(end - start)
    return bytes(mended)


def _opens_block(node: Node) -> bool:
    return node.type == "subshell" or node.text in _OPENERS


def part_backticks(data: bytes, root: Node) -> tuple[bytes, list[Edit]]:
    """Put an empty string between the end of one old-style substitution and the next one's start.

    tree-sitter takes the two marks and the blank between them for a token of its own.
    """
    at = min((node.end_byte - 1 for node in _walk(root) if is_glued_backticks(node)), default=-1)
    if at < 0:
        return data, []
    edits = [Edit(at + 1, -1), Edit(at + len(_NOTHING), -len(_NOTHING))]
    return data[:at] + _NOTHING + data[at:], edits


def is_glued_backticks(node: Node) -> bool:
    """Say whether a node is the end of one old-style substitution and the start of another."""
    if node.type != "``":
        return False
    parent = node.parent
    while parent is not None:
        if parent.type == "command_substitution" and parent.children[0].type == "`":
            return True
        parent = parent.parent
    return False


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)


def _literal_ranges(root: Node) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _LITERAL_TYPES:
            found.append((node.start_byte, node.end_byte))
            continue
        children = node.children
        if node.type == "heredoc_redirect" and _is_quoted_heredoc(node):
            bodies = [child for child in children if child.type == "heredoc_body"]
            found.extend((child.start_byte, child.end_byte) for child in bodies)
            children = [child for child in children if child.type != "heredoc_body"]
        stack.extend(children)
    return found


def _is_quoted_heredoc(node: Node) -> bool:
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    text = start.text if start is not None else None
    return text is not None and any(mark in text for mark in (b"'", b'"', b"\\"))
