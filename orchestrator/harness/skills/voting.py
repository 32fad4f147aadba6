"""What a skill that is on adds to policy: votes that only tighten, in layers of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import yaml

from orchestrator.config.assets import asset
from orchestrator.errors import PolicyError, SkillError
from orchestrator.policy.compile import layer_of_text
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.tightening import refuse_loosening
from orchestrator.policy.yaml_nodes import Node
from orchestrator.skills.active import Active

HINT = "a skill can only tighten: say ask or deny, or take the key away"


@dataclass(slots=True)
class SkillVotes:
    """The layers of the skill that is on, for whoever judges."""

    layers: tuple[Layer, ...] = ()

    def under(self, policy: EffectivePolicy) -> EffectivePolicy:
        """Return the policy with the skill's votes beside all others; the strictest wins."""
        return replace(policy, layers=(*policy.layers, *self.layers)) if self.layers else policy


def skill_layers(active: Active) -> tuple[Layer, ...]:
    """Return the layers of a skill; SkillError with ``file:line`` where one would loosen."""
    skill, layers = active.skill, list[Layer]()
    if active.policy is not None:
        layers.append(_layer(active.policy.text, skill.source, refuse_loosening))
    if active.closed:
        # By name too, so that a tool that runs commands is no way around another.
        votes = {"version": 1, "name": f"skill-{skill.name[:50]}"}
        closed = votes | {"tools": dict.fromkeys(active.closed, "deny")}
        layers.append(_layer(yaml.safe_dump(closed), skill.source, refuse_loosening))
    return tuple(layers)


def _layer(text: str, file: str, check: Callable[[Node], None]) -> Layer:
    try:
        return layer_of_text(
            "session",
            text.encode(),
            file=file,
            search=asset("policies"),
            box=BoxPaths(),
            check=check,
        )
    except PolicyError as err:
        raise SkillError(err.message, hint=HINT) from err
