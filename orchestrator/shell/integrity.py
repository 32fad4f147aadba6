"""Whether the tree is what bash would read; where that is in doubt, the command is opaque."""

from __future__ import annotations

import re
from itertools import pairwise

from tree_sitter import Node

from orchestrator.shell.reading import MAX_NODES_DEEP, OverLimitError, Reading
from orchestrator.shell.source import Source

_BLANK = re.compile(rb"[ \t\n]*")
_FREE_TEXT = frozenset(
    {"string", "heredoc_body", "heredoc_redirect", "concatenation", "expansion", "regex",
     "arithmetic_expansion", "test_command", "extglob_pattern", "translated_string"}
)  # fmt: skip
"""Nodes whose text between children is taken from the source anyway, or is no command."""


def judge_tree(source: Source, reading: Reading) -> None:
    """Report every place where the tree has errors, holes, or heredocs bash would end elsewhere."""
    stack: list[tuple[Node, int]] = [(source.root, 0)]
    broken = source.root.has_error
    while stack:
        node, depth = stack.pop()
        if depth > MAX_NODES_DEEP:
            raise OverLimitError("syntax nested too deeply")
        if broken and (node.is_error or node.is_missing) and not is_misread(node, source):
            reading.report(
                "opaque",
                "bash syntax that cannot be parsed with certainty",
                source.span(node),
                hint="write it in plainer syntax",
            )
        children = node.children
        if not children:
            continue
        if node.type not in _FREE_TEXT:
            _judge_gaps(node, source, reading)
        if node.type == "heredoc_redirect":
            _judge_heredoc(node, source, reading)
        stack.extend((child, depth + 1) for child in children)


def is_misread(node: Node, source: Source) -> bool:
    """Say whether an error node is a redirection tree-sitter is known to stumble over.

    After another redirection, ``<<< x`` comes as an error ``<<`` and a redirection ``< x``, and
    ``3<> f`` as a redirection with an error ``>`` in it. ``redirects`` reads both.
    """
    text = source.of(node)
    following = node.next_sibling
    if text == "<<" and following is not None and following.type == "file_redirect":
        return source.of(following).startswith("<") and following.start_byte == node.end_byte
    parent = node.parent
    return text == ">" and parent is not None and parent.type == "file_redirect"


def lost_dashes(node: Node, source: Source) -> list[tuple[int, int]]:
    """Return where a redirected statement has a ``-`` that tree-sitter dropped before ``<<``."""
    found: list[tuple[int, int]] = []
    if node.type != "redirected_statement":
        return found
    for child, following in pairwise(node.children):
        gap = source.data[child.end_byte : following.start_byte]
        if gap.strip() == b"-" and following.type == "heredoc_redirect" and gap[:1].isspace():
            start = child.end_byte + gap.index(b"-")
            found.append((start, start + 1))
    return found


def _judge_gaps(node: Node, source: Source, reading: Reading) -> None:
    """Report text that no node covers."""
    at = node.start_byte
    dashes = {start for start, _ in lost_dashes(node, source)}
    for child in node.children:
        if any(at <= dash < child.start_byte for dash in dashes):
            continue
        if child.start_byte > at and not _is_blank(source.data[at : child.start_byte]):
            reading.report(
                "opaque", "text that no command covers", source.locate(at, child.start_byte)
            )
        at = max(at, child.end_byte)


def _is_blank(data: bytes) -> bool:
    return data.isspace() or _BLANK.fullmatch(data) is not None


def _judge_heredoc(node: Node, source: Source, reading: Reading) -> None:
    """Report a heredoc that bash would end at another line than the tree does."""
    start = next((c for c in node.children if c.type == "heredoc_start"), None)
    end = next((c for c in node.children if c.type == "heredoc_end"), None)
    body = next((c for c in node.children if c.type == "heredoc_body"), None)
    if start is None or end is None:
        reading.report("opaque", "a heredoc without its end", source.span(node))
        return
    mark = re.sub(r"""\\(.)|['"]""", lambda match: match[1] or "", source.of(start))
    strip = source.of(node).startswith("<<-")
    begin = body.start_byte if body is not None else end.start_byte
    for line in source.text(begin, end.start_byte).split("\n")[:-1]:
        if (line.lstrip("\t") if strip else line) == mark:
            reading.report("opaque", "a heredoc that ends before the tree says", source.span(node))
    after = source.data[end.end_byte : end.end_byte + 1]
    if source.of(end).strip() != mark or after not in {b"", b"\n", b")", b"`"}:
        reading.report("opaque", "a heredoc whose end is in doubt", source.span(node))
