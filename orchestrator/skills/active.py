"""A skill that is on, as a value: what it leaves of the tools, what it adds to prompt and policy. Pure.

Switching it off is taking the value away; nothing is undone, so nothing can be left behind.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from orchestrator.errors import SkillError
from orchestrator.schema.ids import Digest
from orchestrator.schema.shares import Shares
from orchestrator.schema.thinking import ThinkingLevel
from orchestrator.skills.skill import PolicyPart, Skill

FOLDER = "/skills"
"""Where skills' files are in the box, read-only, each skill's below its name."""


@dataclass(frozen=True, slots=True)
class Active:
    """One skill that is on."""

    skill: Skill
    tools: tuple[str, ...]
    """Names of what is on offer, in the order of the session's own."""
    closed: tuple[str, ...]
    """Of all that there are, those that it takes away: refused by name, however they are reached."""
    instructions: str
    """Layer 2 of the prompt."""
    output: str
    """Layer 5; empty leaves the usual one."""
    shares: Shares | None
    max_tokens: int | None
    policy: PolicyPart | None
    model: str | None
    thinking: ThinkingLevel | None

    @property
    def rules(self) -> Digest:
        """Of all that it takes away: two skills with one digest restrict alike."""
        policy = self.policy.text.strip() if self.policy else None
        facts = {"closed": self.closed, "max_tokens": self.max_tokens, "policy": policy}
        return Digest("sha256:" + sha256(json.dumps(facts).encode()).hexdigest())


def activate(skill: Skill, *, tools: Sequence[str], known: Sequence[str]) -> Active:
    """Return the skill switched on over the session's ``tools``; ``known`` are all that there are.

    Raises SkillError where it leaves no tool of those on offer.
    """
    wanted = set(known) if skill.allowed is None else set(skill.allowed)
    left = wanted - set(skill.forbidden)
    kept = tuple(name for name in tools if name in left)
    if tools and not kept:
        offered = ", ".join(tools)
        raise SkillError(
            f"skill {skill.name}: it leaves none of the tools on offer ({offered})",
            hint=f"offer one that it works with: --tools {','.join(sorted(left)) or 'read'}",
        )
    return Active(
        skill,
        kept,
        tuple(name for name in known if name not in left),
        _instructions(skill),
        skill.output,
        skill.shares,
        skill.max_tokens,
        skill.policy,
        skill.model,
        skill.thinking,
    )


def _instructions(skill: Skill) -> str:
    parts = [f"# Skill: {skill.name}", skill.body]
    others = [file.path for file in skill.files if file.path != "SKILL.md"]
    if others:
        parts.append(
            f"Paths in this skill are relative to {FOLDER}/{skill.name}, which is read-only."
        )
    return "\n\n".join(parts)
