"""``/name words`` in a chat: the text of a template, where no command is called so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from anyio import to_thread

from orchestrator.cli.chat.talk import Talk
from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.project_texts import read_library
from orchestrator.prompts.expand import expand
from orchestrator.prompts.tree import SHIPPED
from orchestrator.schema.terminal_text import escape_terminal


async def called(talk: Talk, line: str, *, known: Iterable[str]) -> str:
    """Return what the template says that a line calls; ``known`` are the commands' names.

    Raises UsageError where there is none of that name, with those that are like it, and
    PromptError for words that it does not take.
    """
    library = await to_thread.run_sync(read_library, talk.directory, talk.paths)
    name = command_words(line)[0]
    names = [*known, *library.names(), *library.faults]
    made = expand(line, library) if name in names else None
    for note in library.notes:
        talk.surface.note(escape_terminal(note))
    if made is None:
        close = [f"/{like}" for like in difflib.get_close_matches(name, dict.fromkeys(names))]
        if name in talk.conversation.session.skills.catalogue.skills:
            close.insert(0, f"/skill {name}")
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise UsageError(
            f"/{name}: there is no such command or template",
            hint=f"{hint}/help lists them; //{name} says it as it is",
        )
    if made.source != SHIPPED:
        talk.surface.note(escape_terminal(f"/{made.name}: {made.source}"))
    return made.text


def command_words(line: str) -> tuple[str, str]:
    """Return the name behind the slash, and what follows it."""
    name, *rest = line[1:].split(maxsplit=1) or [""]
    return name, "".join(rest).strip()


def template_helps(directory: Path, paths: Paths) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each template that can be called, its usage, and what it is for; raw."""
    library = read_library(directory, paths).checked()
    for name in library.names():
        template = library.get(name)
        yield name, template.usage, template.head.description
    for name, reason in sorted(library.faults.items()):
        yield name, f"/{name}", f"broken: {reason}"
