"""Finding paths by a glob."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from globs import Glob
from nearby import not_found
from paths import Place, Roots, placed
from refusal import Refusal
from search import BUDGET, MAX_SECONDS, Ending, open_folder, records, shown_below

MAX_LIMIT = 5000


def find(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Return the files and directories that match, in path order; ignored ones and links are not.

    A directory ends with a slash; an empty one is not found.
    """
    glob = Glob.parse(str(request["pattern"]))
    limit = min(max(1, int(request.get("limit") or 1000)), MAX_LIMIT)
    asked = str(request["path"])
    with placed(request, roots, "read") as place:
        if place.status is None:
            raise not_found(place, asked)
        if not place.is_folder:
            raise Refusal("not_regular", f"{asked} is a file; find takes a directory")
        folder = open_folder(place)
        try:
            ending = Ending()
            files = records(
                [b"--files", b"--null"],
                folder=folder,
                source=None,
                separator=b"\0",
                ending=ending,
            )
            with closing(files):
                return _collect(_entries(files), glob, limit, where=(place, roots, ending))
        finally:
            os.close(folder)


def _entries(files: Iterator[bytes]) -> Iterator[bytes]:
    """Yield each file, and before it each directory that was not yet passed, with a slash."""
    previous: list[bytes] = []
    for file in files:
        *folders, _ = file.split(b"/")
        known = 0
        while known < min(len(folders), len(previous)) and folders[known] == previous[known]:
            known += 1
        for depth in range(known, len(folders)):
            yield b"/".join(folders[: depth + 1]) + b"/"
        previous = folders
        yield file


def _collect(
    entries: Iterator[bytes], glob: Glob, limit: int, *, where: tuple[Place, Roots, Ending]
) -> dict[str, Any]:
    place, roots, ending = where
    paths: list[str] = []
    budget = BUDGET
    limited = False
    for entry in entries:
        if not glob.matches(os.fsdecode(entry.rstrip(b"/")).split("/")):
            continue
        shown = shown_below(place, entry, roots)
        budget -= len(shown.encode()) + 1
        if len(paths) >= limit or budget < 0:
            limited = True
            break
        paths.append(shown)
    notes = []
    if ending.timed_out:
        notes.append(f"the search was stopped after {MAX_SECONDS:g} s; give a narrower path")
    return {
        "paths": paths,
        "total": len(paths),
        "limited": limited or ending.timed_out,
        "notes": notes,
    }
