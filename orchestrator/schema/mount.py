"""One mount of a box: the workspace says what it needs, the sandbox makes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount of the box; a ``volume``'s source is its name, a ``bind``'s an absolute path."""

    kind: str
    """``volume``, ``bind`` or ``tmpfs``."""
    source: str
    target: str
    read_only: bool = False
    size: int | None = None
    """Bytes, for tmpfs."""
