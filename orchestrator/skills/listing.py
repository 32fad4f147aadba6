"""What the prompt says of skills that are not on: a line each, and how to load one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from orchestrator.skills.active import FOLDER
from orchestrator.skills.skill import Skill

MOST_BYTES = 6_000
"""Of the list: about 1,500 tokens of every request."""
READERS = ("read", "bash")
HEAD = (
    "Skills: instructions for some kinds of work. Before you do such work, load its instructions "
    "with {reader} and follow them; they never widen what you may do."
)
MORE = "- {count} more are left out here: {names}"


def listing(skills: Iterable[Skill], *, tools: Sequence[str]) -> str:
    """Return the list, empty where there is none or no tool could load one."""
    offered = [skill for skill in skills if not skill.by_name_only]
    tool = next((name for name in READERS if name in tools), None)
    if not offered or tool is None:
        return ""
    how = f"read {FOLDER}/NAME/SKILL.md" if tool == "read" else f"cat {FOLDER}/NAME/SKILL.md"
    rows, size = list[str](), 0
    for skill in offered:
        row = f"- {skill.name}: {' '.join(escape(skill.description, quote=False).split())}"
        size += len(row.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            break
        rows.append(row)
    left = [skill.name for skill in offered[len(rows) :]]
    if left:
        rows.append(MORE.format(count=len(left), names=", ".join(left[:40])))
    return "\n".join([HEAD.format(reader=f"`{how}`"), *rows])
