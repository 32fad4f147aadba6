"""Names that Windows' file systems, or a share of one, open as another name. Pure.

A file that the box calls ``.envrc.`` becomes ``.envrc`` where the host's directory lies on such a
file system, or where somebody checks it out on one.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

_MOST = 64
"""Readings of one path; what has more of them is no name that somebody chose in good faith."""
_SHORT = re.compile(r"([^.~]{1,7})~([0-9]{1,6})(?:\.([^.]{1,3}))?\Z")
_HASHED = re.compile(r"(..?)[0-9a-f]{4}\Z")
"""From the fifth file with the same beginning on, two letters and a checksum."""
_PIECE = re.compile(r"[/{},]")
_UNSHORT = str.maketrans("+,;=[]", "______", " .")


def literal_names(patterns: Iterable[str]) -> frozenset[str]:
    """Return the names in patterns that stand for themselves alone, in lower case."""
    pieces = (piece for pattern in patterns for piece in _PIECE.split(pattern))
    return frozenset(piece.lower() for piece in pieces if piece and not set(piece) & set("*?[]!"))


def other_readings(path: str, names: frozenset[str]) -> tuple[str, ...] | None:
    """Return what else a path may open there; of short names, only those that stand for ``names``.

    Empty for most paths, None where it may open too many to look at each. Trailing dots and spaces are dropped there, a colon begins the name of a
    stream, a backslash divides, and ``ENVRC~1`` is the short name of ``.envrc``.
    """
    if not set(path) & set(".:~ \\"):
        return ()
    plain = [_opened(part) for part in path.replace("\\", "/").split("/")]
    parts = [part for part in plain if part]
    choices = [(part, *_long_names(part, names)) for part in parts]
    if math.prod(map(len, choices)) > _MOST:
        return None
    readings = dict.fromkeys("/".join(choice) for choice in itertools.product(*choices))
    return tuple(reading for reading in readings if reading and reading != path)


def _opened(name: str) -> str:
    return name.split(":", 1)[0].rstrip(". ") if name not in {".", ".."} else name


def _long_names(name: str, names: frozenset[str]) -> list[str]:
    short = _SHORT.match(name.lower())
    if short is None:
        return []
    stem, _, extension = short.groups()
    return sorted(long for long in names if _may_shorten(long, stem, extension or ""))


def _may_shorten(long: str, stem: str, extension: str) -> bool:
    """Say whether a short name of this stem and extension may be made for the long name."""
    base, dot, ending = long.lstrip(".").rpartition(".")
    if not dot:
        base, ending = ending, ""
    if ending.translate(_UNSHORT)[:3] != extension:
        return False
    base = base.translate(_UNSHORT)
    hashed = _HASHED.match(stem)
    return base[:6] == stem or (hashed is not None and base.startswith(hashed[1]))
