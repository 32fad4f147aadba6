"""Programs under another name: what this very command copied or linked, and may then run."""

from __future__ import annotations

from orchestrator.shell.analysis import Word
from orchestrator.shell.programs import find_program
from orchestrator.shell.scope import Scope


def note_stand_in(source: Word, target: Word, scope: Scope) -> None:
    """Remember what a copy or a link of a known program is."""
    name = source.shape.rpartition("/")[2]
    path = scope.absolute(target.shape, follow=False)
    if path is None or find_program(name) is None:
        return
    scope.stand_ins[path] = name
    scope.stand_ins[f"{path}/{name}"] = name


def find_stand_in(word: Word, scope: Scope) -> str | None:
    """Return the name of the program that a path stands for; None where it is its own."""
    path = scope.absolute(word.shape, follow=False)
    return scope.stand_ins.get(path) if path is not None else None
