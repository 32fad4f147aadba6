"""Texts that bash evaluates a second time: a quoted ``$(…)`` that arithmetic, or ``@P``, runs.

Quotes keep a substitution from running where it stands. But bash reads some values again: in
arithmetic a variable's value is an expression, and a subscript in it is expanded like a word; so
are the operands of ``-eq`` and ``-v``, names that ``read``, ``let``, ``unset`` or ``declare -n``
are given, and what ``${x@P}`` and ``${!x}`` yield. What such a value is cannot be followed through
every way a text can take in a shell. So a command that both stores such a text and evaluates
something again is opaque; either alone is everyday shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from orchestrator.shell.reading import Reading
from orchestrator.shell.source import Source

_LIVE = re.compile(r"`|\$[({\[]|(?:\[[^\n]*|^)\$$")
"""A substitution, or the first half of one that another text may complete."""
_CODED = re.compile(r"\\(?:x(?:24|60)|0?44|140|0?140|u0{0,2}(?:24|60)|U0{0,6}(?:24|60))")
"""``$`` and a backtick as ``$'…'`` may write them."""
_COMPARES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"})
_SETTERS = frozenset(
    {"let", "unset", "read", "mapfile", "readarray", "printf", "getopts", "declare", "typeset",
     "local", "export", "readonly", "set", "test", "["}
)  # fmt: skip
"""What stores its arguments, or evaluates names among them."""
_EVALUATES = frozenset({"let", "unset", "read", "printf", "getopts", "mapfile", "readarray"})
_TABLES = frozenset({"BASH_ALIASES", "BASH_CMDS"})
_ARITHMETIC = frozenset({"arithmetic_expansion", "subscript", "c_style_for_statement"})
_MOST_PREFIXES = 3


def note_second_reading(source: Source, reading: Reading) -> None:
    """Note what is stored and what evaluates again; ``judge_second_reading`` puts them together."""
    stack = [source.root]
    while stack:
        node = stack.pop()
        if _evaluates(node, source):
            reading.evaluates = True
        if _holds_live_text(node, source) and _is_stored(node, source):
            reading.stored.setdefault(source.span(node))
        if node.type == "variable_name" and source.of(node) in _TABLES:
            reading.report("opaque", "changes what the names of programs mean", source.span(node))
        stack.extend(node.children)


def judge_second_reading(reading: Reading) -> None:
    """Report stored texts where something is evaluated a second time."""
    if reading.evaluates:
        for span in reading.stored:
            reading.report(
                "opaque",
                "a quoted substitution that bash may evaluate a second time",
                span,
                hint="write the command out instead of keeping it in a text",
            )


def _evaluates(node: Node, source: Source) -> bool:
    kind = node.type
    if kind in _ARITHMETIC or (kind == "compound_statement" and _begins(node, "((")):
        return True
    if kind == "test_operator":
        return source.of(node) in _COMPARES
    if kind == "expansion":
        return any(child.type in {"@", "!", ":"} for child in node.children)
    if kind == "declaration_command":
        return any(_is_option(child, source, "in") for child in node.children)
    if kind == "command":
        words = [source.of(child) for child in _words(node)]
        named = any(word in _EVALUATES for word in words[:_MOST_PREFIXES])
        return named or bool(_COMPARES.intersection(words))
    return False


def _holds_live_text(node: Node, source: Source) -> bool:
    """Say whether a leaf is text that bash leaves alone at first, with a substitution in it."""
    text = source.of(node)
    if node.type == "raw_string":
        return _LIVE.search(text[1:-1]) is not None
    if node.type == "ansi_c_string":
        return _CODED.search(text) is not None or _LIVE.search(text[2:-1]) is not None
    if node.type in {"word", "string_content"}:
        # What is not escaped in these is expanded where it stands.
        return re.search(r"\\[$`]", text) is not None
    return False


def _is_stored(node: Node, source: Source) -> bool:
    """Say whether a leaf is part of a value, or is given to what evaluates its arguments."""
    for above in _above(node):
        if above.type in {"variable_assignment", "herestring_redirect", "test_command", "array"}:
            return True
        if above.type in {"declaration_command", "unset_command", "subscript"}:
            return True
        if above.type == "for_statement":
            return True
        if above.type == "command":
            words = [source.of(child) for child in _words(above)]
            return any(word in _SETTERS for word in words[:_MOST_PREFIXES])
        if above.type in {"command_substitution", "subshell", "program"}:
            return False
    return False


def _above(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _words(command: Node) -> Iterator[Node]:
    for child in command.children:
        yield child.children[0] if child.type == "command_name" and child.children else child


def _begins(node: Node, mark: str) -> bool:
    return bool(node.children) and node.children[0].type == mark


def _is_option(node: Node, source: Source, letters: str) -> bool:
    text = source.of(node)
    return node.type == "word" and text[:1] in {"-", "+"} and bool({*letters} & {*text[1:]})
