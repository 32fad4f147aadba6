"""A YAML text as a tree that knows its lines: strict, bounded, without the surprises of YAML 1.1.

``yes``, ``on`` and ``12:30`` stay text, a key given twice is an error, and so is a tag. The tree
is built from parse events, so that depth and size are bounded before anything grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import yaml

from orchestrator.errors import PolicyError

MAX_BYTES = 256 * 1024
"""A policy is read by people; the largest shipped one has 10 KB."""
MAX_NODES = 20_000
"""Counted with aliases expanded, so that a few lines cannot blow up."""
MAX_DEPTH = 24

_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_INT = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?\Z")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, written ``file:line``."""

    file: str
    line: int
    """1-based."""

    def __str__(self) -> str:
        """Return ``file:line``."""
        return f"{self.file}:{self.line}"


Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """One value with the line it stands on."""

    value: Scalar | tuple[Node, ...] | Mapping[str, Node]
    place: Place
    key: Place | None = None
    """Where the key stands that names it, in a mapping."""
    size: int = 1
    """Nodes in it, aliases expanded."""

    @property
    def at(self) -> Place:
        """The line to point a reader at: the key's where there is one."""
        return self.key or self.place


Loc: TypeAlias = Sequence[int | str]


def parse_yaml(
    text: str, *, file: str, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES
) -> Node:
    """Return the one document in ``text``; raises PolicyError that begins with ``file:line``."""
    if len(text) > max_bytes:
        raise PolicyError(f"{file}:1: file is too large: more than {max_bytes} bytes")
    builder = _Builder(file, max_nodes)
    try:
        return builder.document(yaml.parse(text, Loader=_LOADER))
    except yaml.reader.ReaderError as err:
        line = text.count("\n", 0, err.position) + 1
        raise PolicyError(f"{file}:{line}: control character in the text") from err
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        line = mark.line + 1 if mark else 1
        problem = " ".join(filter(None, (err.context, err.problem)))
        raise PolicyError(f"{file}:{line}: this is not YAML: {problem}") from err


def plain(node: Node) -> Any:
    """Return the tree's data: dicts, tuples and scalars."""
    if isinstance(node.value, Mapping):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, tuple):
        return tuple(plain(child) for child in node.value)
    return node.value


def find(node: Node, loc: Loc) -> Node | None:
    """Return the node at ``loc``, or None."""
    for part in loc:
        child: Node | None = None
        if isinstance(node.value, Mapping) and isinstance(part, str):
            child = node.value.get(part)
        elif isinstance(node.value, tuple) and isinstance(part, int) and part < len(node.value):
            child = node.value[part]
        if child is None:
            return None
        node = child
    return node


def place_of(node: Node, loc: Loc) -> Place:
    """Return the line of what is at ``loc``, or of the nearest thing above it."""
    for end in range(len(loc), 0, -1):
        found = find(node, loc[:end])
        if found is not None:
            return found.at
    return node.at


class _Builder:
    def __init__(self, file: str, max_nodes: int) -> None:
        self._file = file
        self._max_nodes = max_nodes
        self._nodes = 0
        self._anchors: dict[str, Node | None] = {}

    def document(self, events: Iterator[Any]) -> Node:
        next(events)
        first = next(events)
        if isinstance(first, yaml.StreamEndEvent):
            return Node(None, Place(self._file, 1))
        root = self._node(next(events), events, depth=0)
        next(events)
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._fail(after, "a second document; one file holds one")
        return root

    def _node(self, event: Any, events: Iterator[Any], *, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self._fail(event, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.tag not in (None, "!"):
            self._fail(event, f"tag {event.tag!r}; tags are not used here")
        if event.anchor:
            self._anchors[event.anchor] = None
        node = self._value(event, events, depth=depth)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _value(self, event: Any, events: Iterator[Any], *, depth: int) -> Node:
        self._count(event, 1)
        place = self._place(event)
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event.value) if event.implicit[0] else event.value
            return Node(value, place)
        if isinstance(event, yaml.SequenceStartEvent):
            items = tuple(self._items(events, depth=depth + 1))
            return Node(items, place, size=1 + sum(item.size for item in items))
        mapping = self._mapping(events, depth=depth + 1)
        return Node(mapping, place, size=1 + sum(child.size for child in mapping.values()))

    def _items(self, events: Iterator[Any], *, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._node(event, events, depth=depth)

    def _mapping(self, events: Iterator[Any], *, depth: int) -> dict[str, Node]:
        mapping: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._fail(event, "a key must be plain text")
            key = event.value
            if key in mapping:
                self._fail(event, f"key {key!r} is given twice, first on {mapping[key].at}")
            place = self._place(event)
            child = self._node(next(events), events, depth=depth)
            mapping[key] = Node(child.value, child.place, place, child.size)
        return mapping

    def _alias(self, event: Any) -> Node:
        if event.anchor not in self._anchors:
            self._fail(event, f"alias *{event.anchor} has no anchor before it")
        node = self._anchors[event.anchor]
        if node is None:
            self._fail(event, f"alias *{event.anchor} refers to itself")
        self._count(event, node.size)
        return node

    def _count(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > self._max_nodes:
            self._fail(event, f"more than {self._max_nodes} values, aliases counted")

    def _place(self, event: Any) -> Place:
        return Place(self._file, event.start_mark.line + 1)

    def _fail(self, event: Any, problem: str) -> NoReturn:
        raise PolicyError(f"{self._place(event)}: {problem}")


def _scalar(text: str) -> Scalar:
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text
