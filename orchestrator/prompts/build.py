"""The system prompt: one template, rendered strictly; a missing variable is an error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

NO_NETWORK = "There is no network in the container; do not try to download anything."
PROXIED = (
    "The only way out of the container is a proxy that lets through what the policy allows; "
    "clients use it by themselves. A refusal is an HTTP 403 that names the rule and says what to "
    "do: report it, do not look for another way out."
)


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What the prompt may mention."""

    workdir: str
    date: str
    """ISO 8601 date, no time: a stable prefix keeps provider caches warm."""
    tools: tuple[str, ...]
    """Names of the tools on offer."""
    way_out: bool = False
    """Policy lets something out of the box."""


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
        network=PROXIED if facts.way_out else NO_NETWORK,
    )
