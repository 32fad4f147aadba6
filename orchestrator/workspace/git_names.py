"""Names that git, or a file system beneath it, takes for ``.git``. Pure."""

from __future__ import annotations

import re
import unicodedata

# What HFS+ ignores in names (git's utf8.c has the same list).
_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_SHORT = re.compile(r"git~[0-9]+")
"""The short names that NTFS gives to ``.git``."""
_MOVING = (["HEAD"], ["packed-refs"], ["reftable"])


def is_git_name(name: str) -> bool:
    """True where some host's file system would open ``.git`` for this name."""
    plain = unicodedata.normalize("NFC", name.translate(_IGNORED)).casefold()
    # NTFS drops trailing dots and spaces, and a colon begins a stream's name.
    stem = plain.split(":", 1)[0].rstrip(". ")
    # A backslash is a separator there.
    return any(
        part.rstrip(". ") == ".git" or _SHORT.fullmatch(part.rstrip(". ")) is not None
        for part in stem.split("\\")
    )


def moved_repository(path: str) -> frozenset[str]:
    """Return the directory of the repository whose branches or HEAD a path inside .git is part of.

    Empty for other files of a repository, such as objects and the index.
    """
    parts = path.split("/")
    lower = [part.lower() for part in parts]
    if ".git" not in lower:
        return frozenset()
    at = lower.index(".git")
    inside = parts[at + 1 :]
    moves = inside[:2] == ["refs", "heads"] or inside[:1] in _MOVING
    return frozenset({"/".join(parts[:at])}) if moves else frozenset()
