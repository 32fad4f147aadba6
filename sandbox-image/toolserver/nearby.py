"""What to say when a name is not there: never another file, at most one suggestion."""

from __future__ import annotations

import difflib
import itertools
import os

from names import folded_name, shown_path
from paths import Place
from refusal import Refusal

MAX_NAMES = 20_000
"""Names of one directory that are looked at; a suggestion is a courtesy, not a search."""

LIKENESS = 0.8
"""How alike two names must be (difflib's ratio) to be suggested as a slip of the pen."""


def not_found(place: Place, asked: str) -> Refusal:
    """Return the refusal for a path that does not exist, with the one name that was likely meant."""
    place.bear(os.fstat(place.parent).st_size)
    wanted = place.rest[0]
    folder = place.path[: len(place.path) - len(b"/".join(place.rest))]
    names = _names(place.parent)
    place.bear_names(len(names))
    candidate = _same_looking(wanted, names) or _misspelt(wanted, names)
    if candidate is None:
        where = shown_path(folder.rstrip(b"/")) or "/"
        detail = f"no such file or directory ({where} exists, {shown_path(wanted)} is not in it)"
        return Refusal("not_found", f"{asked}: {detail}")
    meant = shown_path(folder + b"/".join([candidate, *place.rest[1:]]))
    return Refusal("not_found", f"{asked}: no such file or directory; did you mean {meant} ?")


def _names(folder: int) -> list[bytes]:
    try:
        handle = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        # A directory that may be passed but not listed gives no suggestion.
        return []
    try:
        with os.scandir(handle) as entries:
            return [os.fsencode(entry.name) for entry in itertools.islice(entries, MAX_NAMES)]
    finally:
        os.close(handle)


def _same_looking(wanted: bytes, names: list[bytes]) -> bytes | None:
    folded = folded_name(wanted)
    alike = [name for name in names if folded_name(name) == folded]
    return alike[0] if len(alike) == 1 else None


def _misspelt(wanted: bytes, names: list[bytes]) -> bytes | None:
    by_text = {os.fsdecode(name): name for name in names}
    close = difflib.get_close_matches(os.fsdecode(wanted), by_text, n=2, cutoff=LIKENESS)
    return by_text[close[0]] if len(close) == 1 else None
