"""Fork bombs and loops that only start processes."""

from __future__ import annotations

from tree_sitter import Node

from orchestrator.shell.source import Source
from orchestrator.shell.standing import Standing


def judge_function(name: str, body: Node, at: Standing) -> None:
    """Report a function that starts itself in a pipeline or in the background."""
    calls = _calls(name, body, at.source)
    if not calls:
        return
    if len(calls) > 1 or any(_runs_beside(call, body) for call in calls):
        at.site.reading.report(
            "exhaustion", f"function {name} starts itself again and again", at.source.span(body),
            severity="high",
        )  # fmt: skip


def judge_loop(node: Node, at: Standing) -> None:
    """Report an endless loop that starts background processes."""
    text = at.source.of(node)
    if node.type == "for_statement":
        return
    head = text.split("do", 1)[0].replace(" ", "")
    endless = head.startswith(
        ("whiletrue", "while:", "untilfalse", "while((1", "for((;;", "while[1")
    )
    if endless and any(child.type == "&" for child in _descendants(node)):
        at.site.reading.report(
            "exhaustion",
            "an endless loop that starts processes",
            at.source.span(node),
            severity="high",
        )


def _calls(name: str, body: Node, source: Source) -> list[Node]:
    return [
        node
        for node in _descendants(body)
        if node.type == "command_name" and source.of(node) == name
    ]


def _runs_beside(call: Node, body: Node) -> bool:
    node: Node | None = call
    while node is not None and node.id != body.id:
        following = node.next_sibling
        if node.type == "pipeline" or (following is not None and following.type == "&"):
            return True
        node = node.parent
    return False


def _descendants(node: Node) -> list[Node]:
    found: list[Node] = []
    stack = [node]
    while stack:
        current = stack.pop()
        found.append(current)
        stack.extend(current.children)
    return found
