"""Whether the tree is what bash would read; where that is in doubt, the command is opaque."""

from __future__ import annotations

import re
from itertools import pairwise

from tree_sitter import Node

from orchestrator.shell.mending import is_glued_backticks
from orchestrator.shell.reading import MAX_NODES, MAX_NODES_DEEP, OverLimitError, Reading
from orchestrator.shell.source import Source

_LIVE_BLANK = re.compile(rb"(?<!\\)(?:\\\\)*[ \t\n]")
_NAME = re.compile(rb"\w+")
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_FREE_TEXT = frozenset(
    {"string", "heredoc_body", "heredoc_redirect", "concatenation", "expansion", "regex",
     "arithmetic_expansion", "test_command", "extglob_pattern", "translated_string"}
)  # fmt: skip
"""Nodes whose text between children is taken from the source anyway, or is no command."""


def judge_tree(source: Source, reading: Reading) -> None:
    """Report every place where the tree has errors, holes, or heredocs bash would end elsewhere."""
    stack: list[tuple[Node, int]] = [(source.root, 0)]
    broken = source.root.has_error
    seen = 0
    while stack:
        node, depth = stack.pop()
        seen += 1
        if depth > MAX_NODES_DEEP or seen > MAX_NODES:
            raise OverLimitError("more syntax than anyone would read")
        if broken and (node.is_error or node.is_missing) and not is_misread(node, source):
            reading.report(
                "opaque",
                "bash syntax that cannot be parsed with certainty",
                source.span(node),
                hint="write it in plainer syntax",
            )
        children = node.children
        if not children:
            _judge_leaf(node, source, reading)
            continue
        if node.type not in _FREE_TEXT:
            _judge_gaps(node, source, reading, is_root=depth == 0)
        elif node.type == "concatenation":
            _judge_gaps(node, source, reading, blanks=False)
        elif node.type == "test_command" and not _stands_apart(node, source):
            reading.report("opaque", "a word that bash reads differently", source.span(node))
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


def _judge_gaps(
    node: Node, source: Source, reading: Reading, *, blanks: bool = True, is_root: bool = False
) -> None:
    """Report text that no node covers, and a word that goes on after a redirection's target."""
    lost = {start for start, _ in lost_dashes(node, source)}
    at = 0 if is_root else node.start_byte
    before: Node | None = None
    for child in [*node.children, None]:
        last = len(source.data) if is_root else node.end_byte
        end = last if child is None else child.start_byte
        gap = source.data[at:end]
        if gap and not (blanks and gap.isspace()) and lost.isdisjoint(range(at, end)):
            reading.report("opaque", "text that no command covers", source.locate(at, end))
        if child is None:
            return
        if not gap and before is not None and _goes_on(before, child):
            reading.report("opaque", "a word that bash joins to a redirection", source.span(child))
        before = child
        at = max(at, child.end_byte)


def _goes_on(before: Node, child: Node) -> bool:
    return before.type in _REDIRECTS and child.type not in _REDIRECTS and child.is_named


def _stands_apart(node: Node, source: Source) -> bool:
    """Say whether the brackets of a test have blanks inside, without which bash sees a word."""
    mark = len(source.of(node.children[0]))
    inner = source.data[node.start_byte + mark : node.end_byte - mark]
    return inner[:1].isspace() and inner[-1:].isspace()


def _judge_leaf(node: Node, source: Source, reading: Reading) -> None:
    """Report a word with a blank in it, and a variable no variable is called."""
    kind = node.type
    if is_glued_backticks(node):
        broken = True
    elif kind == "word":
        broken = _LIVE_BLANK.search(source.data, node.start_byte, node.end_byte) is not None
    elif kind == "variable_name":
        broken = _NAME.fullmatch(source.data, node.start_byte, node.end_byte) is None
    else:
        return
    if broken:
        reading.report("opaque", "a word that bash divides differently", source.span(node))


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
