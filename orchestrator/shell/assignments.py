"""Assignments in the tree: before a command, alone, and in ``export`` and its kin."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from orchestrator.shell.analysis import Word
from orchestrator.shell.builtins import assign
from orchestrator.shell.commands import judge_command
from orchestrator.shell.output import Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.setting import Environment, Site
from orchestrator.shell.source import Source
from orchestrator.shell.words import Words


def read_prefix(node: Node, words: Words, source: Source, site: Site) -> Environment:
    """Judge the assignments in front of a command; they hold for it alone."""
    pairs: list[tuple[str, str | None]] = []
    for child in node.children:
        if child.type == "command_name":
            break
        if child.type == "variable_assignment":
            name, value = _parts(child, words, source)
            assign(name, value, site, keep=False)
            pairs.append((name, value.value))
    return tuple(pairs)


def assign_all(nodes: Iterable[Node], words: Words, source: Source, site: Site) -> None:
    """Set variables in the shell itself."""
    for node in nodes:
        if node.type != "variable_assignment":
            continue
        array = node.child_by_field_name("value")
        if array is not None and array.type == "array":
            _assign_array(node, array, words, source, site)
            continue
        name, value = _parts(node, words, source)
        assign(name, value, site)
        outputs = site.reading.outputs_in(value.span)
        if outputs:
            site.scope.origins[name] = outputs[-1]


def declare(node: Node, words: Words, source: Source, site: Site) -> Output:
    """Read ``export``, ``declare``, ``local``, ``readonly``, ``unset`` as the commands they are."""
    argv: list[Word] = []
    for child in node.children:
        if child.type == "variable_assignment":
            assign_all([child], words, source, site)
            text = source.of(child)
            argv.append(_plain(text.partition("=")[0], child, source))
        elif child.type != "comment":
            argv += (
                words.expand([child])
                if child.is_named
                else [_plain(source.of(child), child, source)]
            )
    return judge_command(argv, site)


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


def _parts(node: Node, words: Words, source: Source) -> tuple[str, Word]:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    text = source.of(name) if name is not None else ""
    span = source.span(value) if value is not None else source.span(node)
    shape = words.text(value) if value is not None else ""
    if any(child.type == "+=" for child in node.children):
        shape = DYNAMIC + shape
    raw = source.of(value) if value is not None else ""
    return text, Word(None if DYNAMIC in shape else shape, raw, span, shape=shape)


def _assign_array(node: Node, array: Node, words: Words, source: Source, site: Site) -> None:
    name = node.child_by_field_name("name")
    items = [
        word.shape for child in array.children if child.is_named for word in words.expand([child])
    ]
    if name is not None:
        appended = any(child.type == "+=" for child in node.children)
        old = site.scope.lookup(source.of(name)) if appended else ()
        before = old if isinstance(old, tuple) else (old,)
        site.scope.assign(source.of(name), (*before, *items))


def _plain(text: str, node: Node, source: Source) -> Word:
    return Word(text, text, source.span(node), shape=text)
