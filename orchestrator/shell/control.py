"""Control flow: branches, loops and functions, where the same text may run never, once or often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tree_sitter import Node

from orchestrator.shell.adjacency import group_adjacent
from orchestrator.shell.analysis import Word
from orchestrator.shell.assignments import assigned_names
from orchestrator.shell.exhaustion import judge_function, judge_loop
from orchestrator.shell.output import NOTHING, Output, join_outputs
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scripts import sources_of
from orchestrator.shell.setting import Site
from orchestrator.shell.standing import Standing

_MAX_ROUNDS = 24
"""Readings of one text by the loops around it; beyond it a loop's variable is not static."""

_BRANCHES = frozenset({"elif_clause", "else_clause", "case_item", "do_group", "compound_statement"})


class Walking(Standing, Protocol):
    """What control flow needs of the walker."""

    def visit(self, node: Node) -> Output:
        """Read one node."""

    def maybe(self, nodes: Sequence[Node]) -> Output:
        """Read nodes that may not run."""

    def at(self, site: Site) -> Walking:
        """Return a walker of the same source at another site."""


def statements(node: Node) -> list[Node]:
    """Return the children of a node that are code."""
    return [child for child in node.children if child.is_named and child.type != "comment"]


def read_branches(walker: Walking, node: Node) -> Output:
    """Read an if or a case: conditions run, branches may."""
    output = NOTHING
    before = walker.site.scope.fork()
    for child in statements(node):
        output = join_outputs(output, walker.visit(child))
        if child.type in _BRANCHES:
            walker.site.scope.merge(before)
    walker.site.scope.merge(before)
    return output


def read_while(walker: Walking, node: Node) -> Output:
    """Read a loop with a condition; what its body sets is not static from the start."""
    judge_loop(node, walker)
    for name in assigned_names(node, walker.source):
        walker.site.scope.assign(name, DYNAMIC)
    return walker.maybe(statements(node))


def read_for(walker: Walking, node: Node) -> Output:
    """Read a for loop; a short static list is read once for each item."""
    name = node.child_by_field_name("variable")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        return walker.maybe(statements(node))
    variable = walker.source.of(name)
    scope = walker.site.scope
    items = [
        word
        for group in group_adjacent(node.children_by_field_name("value"))
        for word in walker.words.expand(group)
    ]
    values = _static_values(items)
    setting = walker.site.setting
    if len(values) * setting.rounds > _MAX_ROUNDS:
        values = []
    rounds = max(1, len(values)) * setting.rounds
    inner = walker.at(replace(walker.site, setting=replace(setting, rounds=rounds)))
    output = NOTHING
    for value in values or [DYNAMIC]:
        for changed in assigned_names(body, walker.source):
            scope.assign(changed, DYNAMIC)
        scope.assign(variable, value)
        if not values and all(_is_own(word, walker.site) for word in items):
            scope.origins[variable] = Output("paths")
        elif not values and _come_from_files(items, walker.site):
            scope.origins[variable] = Output("data", reads_files=True)
        output = join_outputs(output, inner.maybe([body]))
    scope.assign(variable, DYNAMIC)
    return output if len(values) == 1 else Output("data")


def _static_values(items: Sequence[Word]) -> list[str]:
    if any(word.value is None or word.glob for word in items):
        return []
    return [word.shape for word in items]


def _is_own(word: Word, site: Site) -> bool:
    """Say whether a list's item can only be a path in the workspace."""
    path = site.scope.absolute(word.shape) if word.value is not None else None
    return path is not None and site.scope.inside(path)


def _come_from_files(items: Sequence[Word], site: Site) -> bool:
    """Say whether what a loop goes over is what was read from a file."""
    return any(source.reads_files for word in items for source in sources_of(word, site))


def read_function(walker: Walking, node: Node) -> Output:
    """Keep a function; if nothing calls it here, its body is read with unknown arguments later."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        return NOTHING
    text = walker.source.of(name)
    site = walker.site
    judge_function(text, body, walker)
    site.scope.functions[text] = (walker.source, body)
    setting = replace(
        site.setting,
        calls=(*site.setting.calls, text),
        feed=NOTHING,
        origin=f"function {text}",
        depth=site.setting.depth + 1,
    )
    inner = replace(site.forked(), setting=setting)
    inner.scope.positional = None
    reader = walker.at(inner)
    site.reading.uncalled[text] = lambda: reader.visit(body)
    return NOTHING
