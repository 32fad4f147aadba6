"""Searching file contents."""

from __future__ import annotations

import binascii
import json
import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from nearby import not_found
from paths import Place, Roots, placed
from read import open_regular
from refusal import Refusal
from search import BUDGET, MAX_RECORD, MAX_SECONDS, Ending, open_folder, records, shown_below
from write import text_bytes

MAX_WIDTH = 500
"""Characters shown of one line; a longer one is cut around its match and says so."""

LEAD = 100
"""Characters shown before the match in a cut line."""

MAX_PATTERN = 10_000
MAX_CONTEXT = 20
MAX_LIMIT = 2000


def grep(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Return the matching lines below a directory, or in one file, up to the limit."""
    arguments = _arguments(request)
    asked = str(request["path"])
    with placed(request, roots, "read") as place:
        if place.status is None:
            raise not_found(place, asked)
        is_folder = place.is_folder
        handle = open_folder(place) if is_folder else open_regular(place, asked)[0]
        try:
            ending = Ending()
            found = records(
                [*arguments, b"--", b"./" if is_folder else b"-"],
                folder=handle if is_folder else place.parent,
                source=None if is_folder else handle,
                separator=b"\n",
                ending=ending,
            )
            limit = min(max(1, int(request.get("limit") or 100)), MAX_LIMIT)
            with closing(found):
                return _collect(found, _Result(place, roots, limit), ending)
        finally:
            os.close(handle)


def _arguments(request: dict[str, Any]) -> list[bytes]:
    pattern = text_bytes(str(request["pattern"]), "pattern")
    if not pattern or b"\0" in pattern or len(pattern) > MAX_PATTERN:
        raise Refusal("invalid", f"pattern: expected 1 to {MAX_PATTERN} bytes without NUL")
    context = min(max(0, int(request.get("context") or 0)), MAX_CONTEXT)
    arguments = [b"--json", b"--context=%d" % context, b"--regexp=" + pattern]
    arguments.append(b"--ignore-case" if request.get("ignore_case") else b"--case-sensitive")
    if request.get("literal"):
        arguments.append(b"--fixed-strings")
    if request.get("glob"):
        glob = text_bytes(str(request["glob"]), "glob")
        if b".." in glob.split(b"/") or b"\0" in glob:
            raise Refusal("outside", "glob: stays below path; no '..' and no NUL")
        # Given again after it: of several globs the last that matches decides.
        arguments += [b"--glob=" + glob, b"--glob=!.git"]
    return arguments


class _Result:
    """Matches as they come in, until limit or budget is reached."""

    def __init__(self, place: Place, roots: Roots, limit: int) -> None:
        self.place = place
        self.roots = roots
        self.limit = limit
        self.budget = BUDGET
        self.matches: list[dict[str, Any]] = []
        self.total = 0
        self.limited = False

    def add(self, kind: str, data: dict[str, Any]) -> bool:
        """Take one line; False when it is past the limit."""
        is_match = kind == "match"
        if is_match and self.total >= self.limit:
            return False
        name = _raw(data["path"])
        name = b"" if name == b"<stdin>" else name.removeprefix(b"./")
        raw = _raw(data["lines"]).rstrip(b"\r\n")
        submatches = data.get("submatches") or [{"start": 0}]
        entry = {
            "path": shown_below(self.place, name, self.roots),
            "line": data["line_number"],
            "context": not is_match,
            **_window(raw, int(submatches[0]["start"])),
        }
        self.budget -= len(entry["path"]) + len(entry["text"].encode()) + 20
        if self.budget < 0:
            return False
        self.matches.append(entry)
        self.total += is_match
        return True


def _collect(found: Iterator[bytes], result: _Result, ending: Ending) -> dict[str, Any]:
    for record in found:
        message = json.loads(record)
        if message["type"] in {"match", "context"} and not result.add(
            message["type"], message["data"]
        ):
            result.limited = True
            break
    else:
        _refuse_failure(ending, result)
    return {
        "matches": result.matches,
        "total": result.total,
        "limited": result.limited or ending.timed_out,
        "notes": _notes(ending),
    }


def _refuse_failure(ending: Ending, result: _Result) -> None:
    if ending.code == 2 and ending.errors and not result.matches:
        hint = "; set literal for plain text" if "regex" in ending.errors else ""
        raise Refusal("invalid", f"grep: {ending.errors}{hint}")


def _notes(ending: Ending) -> list[str]:
    notes = []
    if ending.timed_out:
        notes.append(f"the search was stopped after {MAX_SECONDS:g} s; narrow path or glob")
    if ending.oversized:
        notes.append(f"{ending.oversized} matching lines over {MAX_RECORD} bytes are not shown")
    if ending.code == 2 and not ending.timed_out:
        notes.append("some files could not be read")
    return notes


def _raw(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else binascii.a2b_base64(value["bytes"])


def _window(raw: bytes, start: int) -> dict[str, Any]:
    """Cut a long line around the match that begins at byte ``start``."""
    text = raw.decode("utf-8", "replace")
    if len(text) <= MAX_WIDTH:
        return {"text": text, "cut": False}
    column = len(raw[:start].decode("utf-8", "replace"))
    begin = min(max(0, column - LEAD), len(text) - MAX_WIDTH)
    return {"text": text[begin : begin + MAX_WIDTH], "cut": True, "length": len(text)}
