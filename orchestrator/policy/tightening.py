"""What a project's own policy may not say: anything that loosens is an error with its line. Pure.

Combining the layers could not be loosened by it either (``combine``, ``ballot``); this tells whoever
wrote the file, instead of leaving them in the belief that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.errors import PolicyError
from orchestrator.policy.yaml_nodes import Node

_MAX_SHOWN = 12
_NEVER: dict[tuple[str, ...], str] = {
    ("sandbox", "image"): "chooses what the box runs",
    ("sandbox", "runtime"): "chooses what the box runs on",
    ("sandbox", "prepare"): "runs steps as root on the image",
    ("services",): "starts further containers",
    ("network", "packages_private"): "opens addresses of what is near",
    ("models", "box", "map"): "chooses which model is paid for",
}
_NEVER_IN_RULES = {
    "inject": "sends one of the person's keys along",
    "private": "opens addresses of what is near",
}
LOOSEST: dict[tuple[str, ...], object] = {
    ("sandbox", "read_only_root"): False,
    ("sandbox", "home"): "project",
    ("sandbox", "exec_record"): False,
    ("commands", "unexpected"): "report",
    ("sandbox", "project_image"): "ask",
    ("workspace", "mode"): "bind",
    ("workspace", "add_dirs"): "allow",
    ("models", "in_box"): "allow",
    ("models", "box", "remote"): "allow",
    ("approvals", "yolo"): "allow",
    ("audit", "sign"): False,
}
_VOTES = frozenset({"default", "effect", "normal", "high"})


def refuse_loosening(tree: Node) -> None:
    """Raise PolicyError, one ``file:line`` a key, where a project's own file would loosen."""
    found = sorted(
        ((node.at.line, f"{node.at}: {text}") for node, text in _loosening(tree, ())),
        key=lambda item: item[0],
    )
    if found:
        raise PolicyError(
            "\n".join(text for _, text in found[:_MAX_SHOWN]),
            hint="a project's policy can only tighten: say ask or deny, or take the key away; "
            "who may loosen are organisation, team, user and --policy",
        )


def _loosening(node: Node, loc: tuple[str, ...]) -> Iterator[tuple[Node, str]]:
    label = ".".join(loc)
    if loc in _NEVER:
        yield node, f"{label} {_NEVER[loc]}, which is not a project's to say"
    elif loc[:2] == ("network", "rules") and loc[-1] in _NEVER_IN_RULES:
        yield node, f"{label} {_NEVER_IN_RULES[str(loc[-1])]}, which would loosen"
    elif isinstance(node.value, Mapping):
        for key, child in node.value.items():
            yield from _loosening(child, (*loc, key))
    elif isinstance(node.value, tuple):
        for child in node.value:
            yield from _loosening(child, loc)
    elif (loc in LOOSEST and node.value == LOOSEST[loc]) or _allows(node, loc):
        shown = str(node.value).lower() if isinstance(node.value, bool) else node.value
        yield node, f"{label}: {shown} would loosen"


def _allows(node: Node, loc: tuple[str, ...]) -> bool:
    if node.value != "allow" or not loc:
        return False
    return (
        loc[0] == "tools"
        or loc[:2] == ("commands", "risks")
        or (loc[0] in {"commands", "files", "network"} and loc[-1] in _VOTES)
    )
