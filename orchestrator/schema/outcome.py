"""What came back from the box for one Request. Everything in it is untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    r"""The box's answer: ``data`` on success, or an ``error`` the model can act on.

    ``data`` by request kind (all text is valid UTF-8 with U+FFFD for bad bytes):

    - exec: ``exit_code: int|None, signal: int|None, timed_out: bool, cancelled: bool,
      head: str, tail: str, total_bytes: int, total_lines: int, spill: str|None,
      duration_ms: float, limit: str|None`` (``memory|pids|disk|output`` where one ended it)
    - read: ``type: text|image|binary|empty``; text: ``text, start, lines, total_lines: int|None
      (None for gigabytes), total_bytes, next_offset: int|None, cut_lines: [{line, shown, bytes}]``;
      image: ``media_type, data, width, height, original_width, original_height``; binary:
      ``bytes``, and ``note`` for a damaged picture
    - write: ``bytes, created: bool, diff: str``
    - edit: ``replacements: int, lines: [int]`` (first lines of the changes)``, diff: str``
    - grep: ``matches: [{path, line, text, cut: bool, context: bool, length: int where cut}], total,
      limited: bool, notes: [str]``; ``total`` counts what is returned, context left out
    - find: ``paths: [str], total, limited: bool, notes: [str]``
    - ls: ``entries: [{name, type, size, target of a link}], total, limited: bool, notes: [str]``

    - process_start, process_output, process_input, process_signal: ``running: bool, exit_code,
      signal, limit, duration_ms`` as for exec (None while it runs), ``text: str, start: int,
      next: int`` (places in the whole output, in bytes)``, lost: int`` (bytes before it that are
      not kept any more)``, skipped: int`` (kept, left out for size)``, more: int`` (after it)``,
      unread: int`` (bytes of input not taken)``, why: match|ended|quiet|time|cancelled|slow|broken``
      (why the waiting ended; the last two are said of a pattern)
    - process_list: ``processes: [{handle, command, terminal: bool, unseen: int, running, exit_code,
      signal, limit, duration_ms}]``

    Paths and names are in the escaped form that every request takes back (a backslash doubled,
    ``\n``, ``\x1b``, ``\xff`` for a byte that is not UTF-8, ``\u202e``).
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    code: str | None = None
    """A stable word for the error: ``not_found outside moved not_regular no_match many_matches
    empty_old no_change overlap changed binary too_large timeout no_space denied invalid unavailable
    failed gone cancelled``."""
