"""Nodes that touch are one word."""

from orchestrator.shell.adjacency import group_adjacent
from orchestrator.shell.source import Source


def test_nodes_without_a_gap_are_one_group():
    """``$"a"`` comes as two nodes and is one word."""
    command = Source('x $"a" b').root.children[0]
    groups = group_adjacent(command.children)
    assert [[node.type for node in group] for group in groups] == [
        ["command_name"],
        ["$", "string"],
        ["word"],
    ]
