"""The model that a session asked last, for whoever takes it up without naming one."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import SessionError
from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel
from orchestrator.sessions.entry import Entry, parse_entry
from orchestrator.sessions.opened import opened_session

_MARK = b'"type":"model_change"'


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was asked last."""

    name: str | None = None
    """As it is given to ``-m``; None where the file does not tell."""
    thinking: ThinkingLevel | None = None


def remembered(path: Path) -> Remembered:
    """Return what stands last in a session file; SessionError where it cannot be read.

    Only that line is looked for, from the end: a long session is not read whole for it.
    """
    try:
        with opened_session(path) as file:
            if not os.fstat(file.fileno()).st_size:
                return Remembered()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _last(data)
    except OSError as error:
        raise SessionError(f"{path}: the session cannot be read: {error.strerror}") from error


def last_model(path: Sequence[Entry]) -> tuple[Any, Any] | None:
    """Return name and thinking of the last change along a path; None where there was none."""
    for entry in reversed(path):
        if entry.type == "model_change":
            return entry.body.get("name"), entry.body.get("thinking")
    return None


def _last(data: mmap.mmap) -> Remembered:
    end = len(data)
    while (at := data.rfind(_MARK, 0, end)) >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        stop = data.find(b"\n", at)
        found = _read(data[start : stop if stop >= 0 else len(data)])
        if found is not None:
            return found
        # Inside another line's text, or damaged: an earlier one may tell.
        end = start
    return Remembered()


def _read(line: bytes) -> Remembered | None:
    try:
        entry = parse_entry(json.loads(line))
    except (ValueError, RecursionError):
        return None
    if entry is None or entry.type != "model_change":
        return None
    name, level = entry.body.get("name"), entry.body.get("thinking")
    known = next((word for word in THINKING_LEVELS if word == level), None)
    return Remembered(name if isinstance(name, str) and name else None, known)
