"""Assignments in the tree: before a command, alone, and in ``export`` and its kin."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from orchestrator.shell.analysis import Word
from orchestrator.shell.builtins import assign
from orchestrator.shell.commands import judge_command
from orchestrator.shell.output import Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.setting import Environment
from orchestrator.shell.source import Source
from orchestrator.shell.standing import Standing
from orchestrator.shell.words import EXPANSIONS


def read_prefix(node: Node, at: Standing) -> Environment:
    """Judge the assignments in front of a command; they hold for it alone."""
    pairs: list[tuple[str, str | None]] = []
    for child in node.children:
        if child.type == "command_name":
            break
        if child.type == "variable_assignment":
            name, value = _parts(child, at)
            assign(name, value, at.site, keep=False)
            pairs.append((name, value.value))
    return tuple(pairs)


def assign_all(nodes: Iterable[Node], at: Standing) -> None:
    """Set variables in the shell itself."""
    for node in nodes:
        if node.type != "variable_assignment":
            continue
        array = node.child_by_field_name("value")
        if array is not None and array.type == "array":
            _assign_array(node, array, at)
            continue
        name, value = _parts(node, at)
        assign(name, value, at.site)
        outputs = at.site.reading.outputs_in(value.span)
        if outputs:
            at.site.scope.origins[name] = outputs[-1]


def declare(node: Node, at: Standing) -> Output:
    """Read ``export``, ``declare``, ``local``, ``readonly``, ``unset`` as the commands they are."""
    argv: list[Word] = []
    for child in node.children:
        if child.type == "variable_assignment":
            assign_all([child], at)
            text = at.source.of(child).partition("=")[0]
            argv.append(Word(text, text, at.source.span(child), shape=text))
        elif child.is_named and child.type != "comment":
            argv += at.words.expand([child])
        elif not child.is_named:
            text = at.source.of(child)
            argv.append(Word(text, text, at.source.span(child), shape=text))
    return judge_command(argv, at.site)


def assigned_names(node: Node, source: Source) -> set[str]:
    """Return every variable that a part of the tree may set."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "variable_assignment":
            name = current.child_by_field_name("name")
            if name is not None:
                found.add(source.of(name))
        stack.extend(current.children)
    return found


def _parts(node: Node, at: Standing) -> tuple[str, Word]:
    source = at.source
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    text = source.of(name) if name is not None else ""
    if name is not None and name.type == "subscript":
        _read_subscript(name, at)
    span = source.span(value) if value is not None else source.span(node)
    shape = at.words.text(value) if value is not None else ""
    if _appends(node):
        old = at.site.scope.lookup(text)
        shape = (old if isinstance(old, str) else DYNAMIC) + shape
    raw = source.of(value) if value is not None else ""
    return text, Word(None if DYNAMIC in shape else shape, raw, span, shape=shape)


def _read_subscript(node: Node, at: Standing) -> None:
    """Read the substitutions in an array's index."""
    for child in node.children:
        if child.type in EXPANSIONS:
            at.words.text(child)
        else:
            _read_subscript(child, at)


def _appends(node: Node) -> bool:
    return any(child.type == "+=" for child in node.children)


def _assign_array(node: Node, array: Node, at: Standing) -> None:
    items = [
        word.shape
        for child in array.children
        if child.is_named
        for word in at.words.expand([child])
    ]
    field = node.child_by_field_name("name")
    if field is None:
        return
    _read_subscript(field, at)
    name = at.source.of(field)
    old = at.site.scope.lookup(name) if _appends(node) else ()
    before = old if isinstance(old, tuple) else (old,)
    at.site.scope.assign(name, (*before, *items))
