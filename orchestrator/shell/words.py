"""Words: from a tree's node to the argument strings that a program would receive.

Follows bash's order: braces, tilde, parameters and substitutions, splitting, quote removal. What is
only known at run time becomes ``DYNAMIC`` in the word's shape. Every byte of a node is accounted
for: text between two expansions is taken from the source, not from the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from orchestrator.shell.analysis import Word
from orchestrator.shell.braces import expand_braces
from orchestrator.shell.parameters import Parameters
from orchestrator.shell.quoting import (
    BREAK,
    DYNAMIC,
    EMPTY,
    shield,
    undo_ansi,
    undo_bare,
    undo_double,
    unshield,
)
from orchestrator.shell.scope import Scope, expand_tilde
from orchestrator.shell.source import Source

Run = Callable[[Node], str | None]
"""Reads the commands of a substitution; returns its output where that is static."""

EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution",
     "arithmetic_expansion"}
)  # fmt: skip
_PIECES = EXPANSIONS | {"string", "raw_string", "ansi_c_string", "translated_string"}
_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_STRAY_PARAMETER = re.compile(r"(?<!\\)\$(?:[$?!#@*-]|\w+)")
"""A parameter that tree-sitter left inside a plain word."""
_LIVE_SPACE = re.compile(r"[ \t\n]+")


class Words:
    """Expands the words of one source in one scope."""

    def __init__(self, source: Source, scope: Scope, run: Run) -> None:
        """Keep what expansion needs; ``run`` is called once for each substitution met."""
        self._source = source
        self._run = run
        self._parameters = Parameters(scope, lambda node: self._pattern(node, quoted=False))
        self._scope = scope
        self._whole = 0
        """Values being read that bash does not split: a newline in them stays one."""

    def expand(self, nodes: Sequence[Node]) -> list[Word]:
        """Return the words that adjacent ``nodes`` (one word of the text) become."""
        start, end = nodes[0].start_byte, nodes[-1].end_byte
        raw = self._source.text(start, end)
        span = self._source.locate(start, end)
        if len(nodes) == 1 and nodes[0].type in {"word", "number"} and raw.isalnum():
            return [Word(raw, raw, span, shape=raw)]
        pattern = "".join(
            self._pattern(node, quoted=False)
            for node, following in zip(nodes, [*nodes[1:], None], strict=True)
            if not _is_locale_mark(node, following)
        )
        if pattern == EMPTY or (not pattern and nodes[0].type in EXPANSIONS):
            return []
        splits = DYNAMIC in pattern and not _fully_quoted(nodes)
        words: list[Word] = []
        for alternative in expand_braces(pattern):
            live = expand_tilde(alternative, self._scope) if alternative[:1] == "~" else alternative
            words += [_word(piece, raw=raw, span=span, splits=splits) for piece in _split(live)]
        return words

    def text(self, node: Node) -> str:
        """Return the shape of a value that is not split: an assignment, a target, a here-string."""
        self._whole += 1
        pattern = self._pattern(node, quoted=False)
        self._whole -= 1
        if pattern[:1] == "~":
            pattern = expand_tilde(pattern, self._scope)
        return unshield(pattern.replace(BREAK, " "))

    def quoted(self, node: Node) -> str:
        """Return the shape of an expansion inside double quotes or a heredoc."""
        return unshield(self._expansion(node, quoted=True).replace(BREAK, " "))

    def _pattern(self, node: Node, *, quoted: bool) -> str:
        kind = node.type
        source = self._source
        if kind == "string":
            return self._filled(node)
        if kind == "raw_string":
            return shield(source.of(node)[1:-1])
        if kind == "ansi_c_string":
            return shield(undo_ansi(source.of(node)[2:-1]))
        if kind == "translated_string":
            return self._pattern(node.children[-1], quoted=True)
        if kind in EXPANSIONS:
            return self._expansion(node, quoted=quoted)
        if not node.child_count or kind == "brace_expression":
            return undo_bare(_STRAY_PARAMETER.sub(DYNAMIC, source.of(node)))
        return self._joined(node)

    def _joined(self, node: Node) -> str:
        """Return the pieces of a concatenation, with the text between them."""
        pieces: list[str] = []
        at = node.start_byte
        for child in node.children:
            pieces.append(undo_bare(self._source.text(at, child.start_byte)))
            if not _is_locale_mark(child, child.next_sibling):
                pieces.append(self._pattern(child, quoted=False))
            at = child.end_byte
        pieces.append(undo_bare(self._source.text(at, node.end_byte)))
        return "".join(pieces)

    def _filled(self, node: Node) -> str:
        """Return the inside of a double-quoted string with its expansions put in."""
        pieces: list[str] = []
        at = node.start_byte + 1
        end = max(at, node.end_byte - 1)
        for child in node.children:
            if child.type in EXPANSIONS:
                pieces.append(shield(undo_double(self._source.text(at, child.start_byte))))
                pieces.append(self._expansion(child, quoted=True))
                at = child.end_byte
        pieces.append(shield(undo_double(self._source.text(at, end))))
        return "".join(pieces)

    def _expansion(self, node: Node, *, quoted: bool) -> str:
        kind = node.type
        quoted = quoted or self._whole > 0
        if kind == "command_substitution":
            output = self._run(node)
            value = DYNAMIC if output is None else output.rstrip("\n")
        elif kind == "process_substitution":
            self._run(node)
            return "/dev/fd/" + DYNAMIC
        elif kind == "arithmetic_expansion":
            self._inner(node)
            return DYNAMIC
        else:
            return self._parameters.expand(node, self._source.of(node), quoted=quoted)
        if quoted:
            return shield(value)
        return _LIVE_SPACE.sub(BREAK, value)

    def _inner(self, node: Node) -> None:
        for child in node.children:
            if child.type in EXPANSIONS:
                self._expansion(child, quoted=True)
            else:
                self._inner(child)


def _word(piece: str, *, raw: str, span: tuple[int, int], splits: bool) -> Word:
    shape = unshield(piece)
    dynamic = DYNAMIC in shape
    return Word(
        None if dynamic else shape,
        raw,
        span,
        glob=_GLOB.search(piece) is not None,
        shape=shape,
        splits=splits and dynamic,
    )


def _split(pattern: str) -> list[str]:
    if BREAK not in pattern:
        return [pattern]
    return [piece for piece in pattern.split(BREAK) if piece]


def _fully_quoted(nodes: Sequence[Node]) -> bool:
    """Say whether every expansion of the word stands in double quotes."""
    for node in nodes:
        if node.type in EXPANSIONS:
            return False
        if node.type not in _PIECES and not _fully_quoted(node.children):
            return False
    return True


def _is_locale_mark(node: Node, following: Node | None) -> bool:
    """Say whether this is the dollar of ``$"…"``, which the tree gives as a piece of its own."""
    return node.type == "$" and following is not None and following.type == "string"
