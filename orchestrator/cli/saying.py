"""What a person typed as what the model is told: ``/skill NAME words``, and templates by ``/NAME words``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.project_texts import read_library
from orchestrator.prompts.expand import called_name, expand, literal
from orchestrator.prompts.library import Library
from orchestrator.prompts.tree import COMMANDS, SHIPPED
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.skills.router import said_skill


@dataclass(frozen=True, slots=True)
class Typed:
    """What was meant."""

    text: str | None
    skill: str | None = None
    """The skill that was named, ``off`` for none; None where nothing was said of one."""


def understood(typed: str | None, directory: Path, paths: Paths, *, piped: bool = False) -> Typed:
    """Return what the model is told, and the skill that was named.

    What comes by a pipe calls nothing: only a command's argument is what a person typed.
    Raises UsageError or PromptError for a call that does not fit.
    """
    if typed is None or piped or not typed.lstrip().startswith("/"):
        return Typed(typed)
    said, skill = said_skill(typed), None
    if said is not None:
        skill, typed = said.skill or "off", said.rest
        if not typed:
            raise UsageError(
                f"/skill {skill}: expected what to do after it, got nothing",
                hint="such as: /skill review the uncommitted changes",
            )
    return Typed(_expanded(typed, read_library(directory, paths)), skill)


def _expanded(typed: str, library: Library) -> str:
    """Return the text of the template that was called, else what was typed."""
    name = called_name(typed)
    if name in COMMANDS:
        raise UsageError(
            f"/{name} is a command of glovebox chat", hint=f"//{name} says it as it is"
        )
    made = expand(typed, library)
    told = list(library.notes)
    if made is not None and made.source != SHIPPED:
        told.append(f"/{made.name}: {made.source}")
    for note in told:
        sys.stderr.write(escape_terminal(note) + "\n")
    return literal(typed) if made is None else made.text
