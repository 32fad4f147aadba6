"""Nodes that touch: bash takes them for one word, whatever the tree says."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node


def group_adjacent(nodes: Sequence[Node]) -> list[list[Node]]:
    """Return ``nodes`` in groups without a gap inside."""
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and groups[-1][-1].end_byte == node.start_byte:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups
