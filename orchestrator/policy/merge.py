"""``extends``: several trees into one. Later scalars and rules override, lists add.

Allow lists do not add: one that its children could only widen would be a trap, so there the later
list stands in place of the earlier.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.policy.yaml_nodes import Node

ALLOW_LISTS = frozenset(
    {
        ("approvals", "scopes"),
        ("files", "read_roots"),
        ("models", "allow"),
        ("models", "box", "allow"),
        ("network", "packages"),
        ("network", "packages_private"),
        ("workspace", "modes"),
    }
)


def merge_trees(parent: Node, child: Node) -> Node:
    """Return both as one tree in which every value keeps the line it came from.

    Mappings merge key by key. A list of rules (mappings with an ``id``) takes the later rule where
    ids are equal, in the earlier one's position. Other lists but ``ALLOW_LISTS`` add, doubles
    dropped.
    """
    return _merge(parent, child, ())


def _merge(parent: Node, child: Node, loc: tuple[str, ...]) -> Node:
    if isinstance(parent.value, Mapping) and isinstance(child.value, Mapping):
        merged = dict(parent.value)
        for key, node in child.value.items():
            merged[key] = _merge(merged[key], node, (*loc, key)) if key in merged else node
        return Node(merged, child.place, child.key)
    if loc in ALLOW_LISTS:
        return child
    if isinstance(parent.value, tuple) and isinstance(child.value, tuple):
        return Node(_merge_lists(parent.value, child.value), child.place, child.key)
    return child


def _merge_lists(parent: tuple[Node, ...], child: tuple[Node, ...]) -> tuple[Node, ...]:
    merged: dict[object, Node] = {}
    for node in (*parent, *child):
        merged[_identity(node)] = node
    return tuple(merged.values())


def _identity(node: Node) -> object:
    if isinstance(node.value, Mapping) and "id" in node.value:
        return ("id", node.value["id"].value)
    if isinstance(node.value, Mapping | tuple):
        return id(node)
    return (type(node.value), node.value)
