"""What a person typed as what the model is told: ``/NAME words`` calls a template."""

from __future__ import annotations

import sys
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.harness.project_texts import read_library
from orchestrator.prompts.expand import expand, literal
from orchestrator.prompts.tree import SHIPPED
from orchestrator.schema.terminal_text import escape_terminal


def expanded(typed: str | None, directory: Path, paths: Paths) -> str | None:
    """Return the text of the template that was called, else what was typed.

    Only for what a person typed as a command's argument: what comes by a pipe calls nothing.
    Raises PromptError for a call that does not fit.
    """
    if typed is None or not typed.lstrip().startswith("/"):
        return typed
    library = read_library(directory, paths)
    made = expand(typed, library)
    told = list(library.notes)
    if made is not None and made.source != SHIPPED:
        told.append(f"/{made.name}: {made.source}")
    for note in told:
        sys.stderr.write(escape_terminal(note) + "\n")
    return literal(typed) if made is None else made.text
