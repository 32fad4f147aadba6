"""The system prompt: one template, rendered strictly; a missing variable is an error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

NO_NETWORK = "There is no network in the container; do not try to download anything."


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What the prompt may mention."""

    workdir: str
    date: str
    """ISO 8601 date, no time: a stable prefix keeps provider caches warm."""
    tools: tuple[str, ...]
    """Names of the tools on offer."""


def system_prompt(facts: PromptFacts) -> str:
    """Return the system prompt."""
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=False,
    )
    return environment.get_template("system.md.j2").render(
        workdir=facts.workdir,
        date=facts.date,
        shell="bash" in facts.tools,
        network=NO_NETWORK,
    )
