"""What came back from the box for one Request. Everything in it is untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """The box's answer: ``data`` on success, or an ``error`` the model can act on.

    ``data`` by request kind (all text is valid UTF-8 with U+FFFD for bad bytes):

    - exec: ``exit_code: int|None, signal: int|None, timed_out: bool, cancelled: bool,
      head: str, tail: str, total_bytes: int, total_lines: int, spill: str|None,
      duration_ms: float, limit: str|None`` (``memory|pids|disk|output`` where one ended it)
    - read: ``type: text|image|binary|empty|directory``; text: ``text, start, lines, total_lines,
      total_bytes, next_offset: int|None, cut_lines: [{line, shown, bytes}]``;
      image: ``media_type, data, width, height, original_width, original_height``; binary: ``bytes``
    - write: ``bytes, created: bool, diff: str``
    - edit: ``replacements: int, lines: [int], diff: str``
    - grep: ``matches: [{path, line, text, cut: bool, context: bool}], total, limited: bool``
    - find: ``paths: [str], total, limited: bool`` · ls: ``entries: [{name, type, size}], total,
      limited: bool, notes: [str]``
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    code: str | None = None
    """A stable word for the error: ``not_found outside not_regular no_match many_matches
    empty_old overlap binary too_large timeout no_space denied invalid gone cancelled``."""
