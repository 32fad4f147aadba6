"""Completion of the input line: ``/commands`` and, after ``@``, paths of the directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from orchestrator.schema.terminal_text import escape_terminal

MOST = 50
"""Completions that are offered at once."""
MOST_READ = 5000
"""Names of one folder that are looked at."""


class LineCompleter(Completer):
    """Completes the word before the cursor."""

    def __init__(self, commands: Mapping[str, str], directory: Callable[[], Path | None]) -> None:
        """``commands`` gives names and their helps, ``directory`` where paths begin."""
        self._commands = commands
        self._directory = directory

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield what the word may become."""
        del complete_event
        line = document.text_before_cursor
        if line.startswith("/") and not line.startswith("//") and " " not in line:
            yield from self._named(line[1:])
            return
        word = line.split()[-1] if line and not line[-1].isspace() else ""
        directory = self._directory()
        if word.startswith("@") and directory is not None:
            yield from self._paths(word[1:], directory)

    def _named(self, begun: str) -> Iterator[Completion]:
        for name, help_text in self._commands.items():
            if name.startswith(begun):
                yield Completion(
                    f"{name} ",
                    -len(begun),
                    display=f"/{name}",
                    display_meta=escape_terminal(help_text),
                )

    def _paths(self, begun: str, directory: Path) -> Iterator[Completion]:
        folder, _, beginning = begun.rpartition("/")
        if begun.startswith("/") or ".." in folder.split("/"):
            return
        count = 0
        for name, is_folder in _names(directory / folder):
            hidden = name.startswith(".") and not beginning.startswith(".")
            # A name with blanks or controls could not be told from what follows it.
            if not name.startswith(beginning) or hidden or escape_terminal(name) != name:
                continue
            if any(char.isspace() for char in name):
                continue
            yield Completion(f"{name}{'/' * is_folder}", -len(beginning))
            count += 1
            if count == MOST:
                return


def _names(folder: Path) -> list[tuple[str, bool]]:
    """Return the names in a folder; a link is none of its folders."""
    found: list[tuple[str, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.append((entry.name, entry.is_dir(follow_symlinks=False)))
                if len(found) == MOST_READ:
                    break
    except (OSError, ValueError):
        return []
    return sorted(found)
