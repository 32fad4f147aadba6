"""Doors that appeared while a box saw their directory: a running mount takes no new cover."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.doors import Door, find_doors
from orchestrator.workspace.late import late_notes
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.tree import Tree, open_tree

Place = Literal["workspace", "dirs"]
"""Where the box has them: for writing as the workspace, or for reading beside it."""

_MOST_TOLD = 20
_LONGEST = 300
_MEANS: dict[Place, str] = {
    "workspace": "if your side made it, the box could use it; if the box made it, a program of "
    "yours that uses it speaks to the box",
    "dirs": "the box could use it",
}


@dataclass(frozen=True, slots=True)
class Looked:
    """What was covered in a directory when the box was made."""

    doors: tuple[Door, ...]
    hidden: tuple[str, ...] = ()
    """Paths that policy hides; nothing below them can be reached."""


def note_doors(folder: Path, place: Place, known: Mapping[Path, Looked]) -> None:
    """Keep in a session's folder what the box's directories had, by directory."""
    rows = {
        str(directory): {
            "doors": {door.path: door.identity for door in looked.doors},
            "hidden": looked.hidden,
        }
        for directory, looked in known.items()
    }
    # Names that are no UTF-8 are kept by JSON's own escapes.
    _file(folder, place).write_text(json.dumps(rows), "ascii")


def late_door_notes(folder: Path, record: WorkspaceRecord) -> Iterator[str]:
    """Yield one line for each door that nothing covers, and for hidden files beside the workspace.

    The workspace's own hidden files are told of by its mode.
    """
    for directory, known in _known(folder, "workspace").items():
        yield from _told(directory, known, "workspace", record)
    for directory, known in _known(folder, "dirs").items():
        yield from _told(directory, known, "dirs", record)


def _told(
    directory: str, known: Mapping[str, Mapping[str, str]], place: Place, record: WorkspaceRecord
) -> Iterator[str]:
    try:
        with open_tree(Path(directory)) as tree:
            if place == "workspace":
                yield from _door_notes(tree, known, place)
                return
            for note in (
                *_door_notes(tree, known, place),
                *late_notes(tree, record, covered=lambda _: False),
            ):
                yield f"{directory}/{note}"
    except WorkspaceError as err:
        yield f"{err.message}; what appeared in it cannot be told"


def _door_notes(tree: Tree, known: Mapping[str, Mapping[str, str]], place: Place) -> Iterator[str]:
    before = known["doors"]
    doors = find_doors(tree, closed={*before, *known["hidden"]})
    late = [door for door in doors if before.get(door.path) != door.identity]
    for door in late[:_MOST_TOLD]:
        yield (
            f"{_short(door.path)}: a {door.kind} that was not there at the start, so that nothing covered "
            f"it: {_MEANS[place]}"
        )
    if len(late) > _MOST_TOLD:
        yield f"and {len(late) - _MOST_TOLD} more sockets, pipes and devices that were not there"


def _short(path: str) -> str:
    """Return a path that a person can read, however deep a box has nested it."""
    return path if len(path) <= _LONGEST else f"{path[:_LONGEST]}…"


def _known(folder: Path, place: Place) -> dict[str, dict[str, dict[str, str]]]:
    try:
        found: dict[str, dict[str, dict[str, str]]] = json.loads(
            _file(folder, place).read_text("ascii")
        )
    except FileNotFoundError:
        return {}
    except ValueError as err:
        raise WorkspaceError(
            f"{_file(folder, place)}: it cannot be read: {err}",
            hint=f"`glovebox discard {folder.name}` drops the workspace",
        ) from err
    return found


def _file(folder: Path, place: Place) -> Path:
    return folder / f"doors-{place}.json"
