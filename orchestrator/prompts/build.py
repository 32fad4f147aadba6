"""The parts of a system prompt: texts rendered with facts, in the order of their layers. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.prompts.assemble import assemble
from orchestrator.prompts.frame import ProjectFile, deeper, framed
from orchestrator.prompts.layer import Layer, Part, SkillParts
from orchestrator.prompts.render import render
from orchestrator.prompts.tree import Texts, shipped_texts

ROLE = "a coding agent"
NO_NETWORK = "There is no network in the container; do not try to download anything."
PROXIED = (
    "The only way out of the container is a proxy that lets through what the policy allows; "
    "clients use it by themselves. A refusal is an HTTP 403 that names the rule and says what to "
    "do: report it, do not look for another way out."
)


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What the texts may mention."""

    workdir: str
    date: str
    """ISO 8601 date, no time: a stable prefix keeps provider caches warm."""
    tools: tuple[str, ...]
    """Names of the tools on offer."""
    way_out: bool = False
    """Policy lets something out of the box."""
    model: str = ""
    """No shipped text names it, so that a switch changes nothing."""
    thinking: str = ""
    role: str = ROLE
    rules: tuple[str, ...] = ()
    """Further lines of the user's."""

    def variables(self) -> dict[str, Any]:
        """Return them by the names that texts use."""
        return {
            "role": self.role,
            "model": self.model,
            "thinking": self.thinking,
            "date": self.date,
            "cwd": self.workdir,
            "rules": self.rules,
            "tools": self.tools,
            "network": PROXIED if self.way_out else NO_NETWORK,
        }


@dataclass(frozen=True, slots=True)
class PromptSources:
    """What stays the same through a session: read once, before the box starts."""

    texts: Texts
    files: tuple[ProjectFile, ...] = ()
    """What projects say, the farthest first."""
    nested: tuple[str, ...] = ()
    """Paths of more of them, which are only named."""


def prompt_parts(
    facts: PromptFacts,
    sources: PromptSources,
    *,
    skill: SkillParts | None = None,
    scrub: Callable[[str], str] = str,
) -> list[Part]:
    """Return the parts; a skill brings its own instructions, and its own output layer or none.

    ``scrub`` takes secrets out, as it does of whatever else is said to a model. The same arguments give the same
    bytes. Raises PromptError where a text cannot be rendered.
    """
    files = [replace(file, text=scrub(file.text)) for file in sources.files]

    def part(layer: Layer, name: str, *, rank: int = 0, last: bool = False) -> Part:
        source = sources.texts.by_name[name]
        text = render(source.text, facts.variables(), source=source.place, plain=source.of_project)
        return Part(layer, name, scrub(text), source.place, rank=rank, last=last)

    output = part("output", "output")
    if skill is not None and skill.output.strip():
        output = Part("output", f"skill {skill.name}", skill.output, skill.source)
    return [
        part("identity", "identity"),
        part("identity", "safety"),
        *([Part("skill", skill.name, skill.instructions, skill.source)] if skill else []),
        # The frame goes after the last file that it is for, and before the user's own wishes.
        *([part("context", "project", rank=1)] if files else []),
        *(Part("context", file.name, framed(file), file.source, tail=file.end) for file in files),
        Part("context", "deeper notes", deeper(sources.nested), "found", rank=1),
        part("context", "preferences", rank=2),
        part("tools", "tools"),
        output,
        part("context", "date", last=True),
    ]


def system_prompt(facts: PromptFacts) -> str:
    """Return the prompt of the shipped texts alone."""
    return assemble(prompt_parts(facts, PromptSources(shipped_texts()))).text
