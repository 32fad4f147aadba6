"""The sections of a policy that a skill brings along, as a policy file of their own. Pure.

The text keeps the lines of the SKILL.md, so that a mistake in it is told with the right one. That it
only tightens is for policy to say, when it is put in force.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.skills.frontmatter import Value
from orchestrator.skills.skill import PolicyPart

SECTIONS = ("tools", "files", "commands")
"""What a skill may vote on. The box and its network were settled before a skill is chosen, so the
other sections could not hold."""


def policy_part(text: str, value: Value, *, name: str) -> PolicyPart:
    """Return the part at ``value`` of a SKILL.md; ValueError in words for what no skill may say."""
    keys = value.data if isinstance(value.data, Mapping) else {}
    for key in keys:
        if key not in SECTIONS:
            raise ValueError(f"a skill may say {', '.join(SECTIONS)}, not {key}")
    files = keys.get("files")
    if files is not None and isinstance(files.data, Mapping) and "read_roots" in files.data:
        raise ValueError("files.read_roots is no vote: a skill may say files.read and files.write")
    lines = text.replace("\r\n", "\n").split("\n")
    own = lines[value.first - 1 : value.last]
    indent = own[0][: len(own[0]) - len(own[0].lstrip(" "))]
    # The fence and the key above leave at least two lines for what each policy file begins with.
    head = ["" for _ in range(value.first - 3)]
    head += [f"{indent}version: 1", f"{indent}name: skill-{name[:50]}"]
    return PolicyPart("\n".join([*head, *own]) + "\n", value.first)
