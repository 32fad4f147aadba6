"""``/name words`` in a chat: the text of a template, where no command is called so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anyio import to_thread

from orchestrator.cli.chat.talk import Talk
from orchestrator.config.paths import Paths
from orchestrator.harness.project_texts import read_library
from orchestrator.prompts.expand import expand
from orchestrator.prompts.tree import SHIPPED
from orchestrator.schema.terminal_text import escape_terminal


async def called(talk: Talk, line: str) -> str | None:
    """Return what the template says that a line calls; None where it calls none.

    Raises PromptError for words that it does not take.
    """
    library = await to_thread.run_sync(read_library, talk.directory, talk.paths)
    made = expand(line, library)
    for note in library.notes:
        talk.surface.note(escape_terminal(note))
    if made is None:
        return None
    if made.source != SHIPPED:
        talk.surface.note(escape_terminal(f"/{made.name}: {made.source}"))
    return made.text


def template_helps(directory: Path, paths: Paths) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each template that can be called, its usage, and what it is for; raw."""
    library = read_library(directory, paths).checked()
    for name in library.names():
        template = library.get(name)
        yield name, template.usage, template.head.description
    for name, reason in sorted(library.faults.items()):
        yield name, f"/{name}", f"broken: {reason}"
