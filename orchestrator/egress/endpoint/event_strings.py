"""Where the strings of a server-sent event stand, and which of other events each of them goes on.

All of the APIs send JSON whose strings a client joins by their place: a block, a choice, a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

Path = tuple[object, ...]

_MARK = "(?:\xef\xbb\xbf)?"
"""What a stream's first line may have before it."""
OTHER_LINE = re.compile(rf"(?!{_MARK}data)[^\r\n]*(?>\r\n|\n|\r)")
"""A whole line that is no data."""
_NO_DATA = re.compile(rf"(?<![^\r\n])(?:{_MARK}data:|(?!{_MARK}data:)[^\r\n]+)")
"""A data line's name, and whole lines of any other kind."""
_LITERAL = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_INDEXES = frozenset({"index", "output_index", "content_index", "summary_index"})
"""Members that tell apart what is sent at one time."""
_NEVER_JOINED = frozenset(
    {"type", "id", "object", "model", "role", "item_id", "call_id", "finish_reason", "finishReason"}
)
"""Members that each event has anew and whole."""
_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Piece:
    """What is between the quotes of one string."""

    path: Path
    """The same where a client joins: the indexes above it and its own name, no place in a list."""
    start: int
    end: int


class _Members(list[tuple[str, object]]):
    """An object, its members in order and those that repeat a name among them."""


def strings_in(event: str) -> list[Piece]:
    """Return the strings of an event in order; none if its data is no JSON.

    ``event`` is its bytes as characters one to one, names of fields and line ends among them.
    """
    # As long as before, so that places are the event's own.
    text = _NO_DATA.sub(lambda match: " " * len(match[0]), event)
    try:
        tree = json.loads(text, object_pairs_hook=_Members, parse_int=_number)
        return list(_walk(tree, (), _LITERAL.finditer(text)))
    except (ValueError, RecursionError):
        return []


def _walk(node: object, path: Path, literals: Iterator[re.Match[str]]) -> Iterator[Piece]:
    if isinstance(node, _Members):
        own = tuple(pair for pair in node if pair[0] in _INDEXES and isinstance(pair[1], int))
        for name, value in node:
            next(literals)
            yield from _walk(value, (*path[:-1], *own, name), literals)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value, path, literals)
    elif isinstance(node, str):
        literal = next(literals)
        if not path or path[-1] not in _NEVER_JOINED:
            yield Piece(path, literal.start() + 1, literal.end() - 1)


def _number(digits: str) -> int:
    """Read a number of any length: Python refuses very long ones, and with them the event."""
    return int(digits[:_DIGITS])
