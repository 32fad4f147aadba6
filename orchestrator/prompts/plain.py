"""The small part of the template language that a project's own texts may use.

A sandbox keeps a template from reaching out; it does not keep it from running for ever or growing
without end. Here nothing is called, computed or defined, and loops do not nest, so what comes out is
bounded by what goes in. Counterpart: ``render``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jinja2 import Environment, nodes

ALLOWED: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Const,
    nodes.Name,
    nodes.Getattr,
    nodes.Getitem,
    nodes.If,
    nodes.For,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.CondExpr,
    nodes.Test,
    nodes.Filter,
    nodes.Include,
)
FILTERS = frozenset({"capitalize", "first", "join", "last", "length", "lower", "trim", "upper"})
"""None makes a text longer than its input by a number that the template gives."""
MOST_BETWEEN = 16
"""Characters that ``join`` puts between two."""


class Complexity(Exception):  # noqa: N818 - caught at once, and never seen
    """Raised for what such a text may not use; the message names it."""

    def __init__(self, what: str, line: int) -> None:
        """Keep the line."""
        super().__init__(what)
        self.line = line


def check_plain(
    tree: nodes.Template, environment: Environment, partial: Callable[[str], str | None]
) -> None:
    """Raise Complexity unless the template and its partials keep to the small language."""
    _check(tree, in_loop=False)
    seen: set[str] = set()
    for include in tree.find_all(nodes.Include):
        name = include.template
        if not isinstance(name, nodes.Const) or not isinstance(name.value, str):
            raise Complexity("an include of a computed name", include.lineno)
        inner = None if name.value in seen else partial(name.value)
        seen.add(name.value)
        if inner is None:
            continue
        parsed = environment.parse(inner)
        _check(parsed, in_loop=False)
        if parsed.find(nodes.Include) is not None:
            raise Complexity("an include in a partial", include.lineno)


def _check(node: nodes.Node, *, in_loop: bool) -> None:
    if not isinstance(node, ALLOWED):
        raise Complexity(f"'{type(node).__name__.lower()}'", node.lineno)
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        raise Complexity(f"the filter '{node.name}'", node.lineno)
    if isinstance(node, nodes.Filter) and node.name == "join":
        _check_join(node)
    if in_loop and isinstance(node, nodes.For | nodes.Include):
        raise Complexity("a loop or an include in a loop", node.lineno)
    if isinstance(node, nodes.For) and node.recursive:
        raise Complexity("a recursive loop", node.lineno)
    for child in node.iter_child_nodes():
        _check(child, in_loop=in_loop or isinstance(node, nodes.For))


def _check_join(join: nodes.Filter) -> None:
    """Refuse what multiplies: a text joined by a text, over and over."""
    plain = not (join.kwargs or join.dyn_args or join.dyn_kwargs) and len(join.args) <= 1
    between = [node.value if isinstance(node, nodes.Const) else None for node in join.args]
    if not plain or any(not isinstance(b, str) or len(b) > MOST_BETWEEN for b in between):
        raise Complexity(
            f"'join' by more than {MOST_BETWEEN} characters, or by what is computed", join.lineno
        )
    if join.node is not None and any(inner.name == "join" for inner in _filters(join.node)):
        raise Complexity("a 'join' of what was joined", join.lineno)


def _filters(node: nodes.Node) -> Iterator[nodes.Filter]:
    if isinstance(node, nodes.Filter):
        yield node
    yield from node.find_all(nodes.Filter)
