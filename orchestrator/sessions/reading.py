"""Bytes of a session file to its header and entries: a damaged entry costs itself, no more.

Pure. Everything that was mended, skipped or moved is said in a warning with its line number.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.errors import SessionError
from orchestrator.schema.ids import EntryId, SessionId
from orchestrator.sessions.entry import (
    FORMAT_VERSION,
    Entry,
    SessionHeader,
    mend_text,
    parse_entry,
    parse_header,
)
from orchestrator.sessions.put_away import WORTH, Span
from orchestrator.sessions.usable import is_usable

_OBJECT_START = '{"type":'
_BLANK = b"\r\n\0 \t"

_ESCAPE = "\\u"

_MAX_TRIES = 64
"""Starts looked at in one damaged line; bounds the work on a hostile one."""


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


@dataclass(slots=True)
class SessionContent:
    """What a file holds, as far as it can be read."""

    header: SessionHeader
    entries: list[Entry] = field(default_factory=list)
    """In file order; every parent that is named comes before."""
    warnings: list[str] = field(default_factory=list)
    header_seen: bool = False
    """False when ``header`` is only what the file's name tells."""
    good_size: int = 0
    """Bytes up to the end of the last whole line; what follows is a torn tail."""
    is_new: bool = False
    """The file held nothing at all: the header is still to be written."""
    spans: dict[EntryId, Span] = field(default_factory=dict)
    """Where the long lines stand that hold one entry."""
    tail_missing_newline: bool = False
    """The tail has whole entries and lacks only its line feed; it stays where it is."""


def read_content(data: bytes, *, name: str, before: Iterable[EntryId] = ()) -> SessionContent:
    """Return everything readable; raises SessionError for a file that is no session.

    ``name`` is the file's own, which gives a session its id when its header is lost. ``before``
    are entries of the same file that ``data`` goes on from.
    """
    content = SessionContent(header_from_name(name))
    known = set(before)
    is_start = not known
    *lines, tail = data.split(b"\n")
    content.good_size = len(data) - len(tail)
    with _uncollected():
        at = 0
        for number, line in enumerate(lines, 1):
            if b"\0" in line:
                holes = line.count(b"\0")
                content.warnings.append(f"line {number}: {holes} empty bytes left by a crash")
            if line.strip(_BLANK):
                before_it = len(content.entries)
                _take_line(content, known, line, number)
                if len(line) >= WORTH and len(content.entries) == before_it + 1:
                    content.spans[content.entries[-1].id] = at, len(line)
            at += len(line) + 1
    if tail:
        _take_tail(content, known, tail, len(lines) + 1)
    if is_start:
        _judge(content, name, is_empty=not data.strip(_BLANK))
    return content


@contextmanager
def _uncollected() -> Iterator[None]:
    """Have no cycles looked for meanwhile: JSON has none, and the search doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def body_in(line: bytes, entry_id: EntryId) -> Mapping[str, Any] | None:
    """Return the body of that entry, as ``read_content`` reads it; None where it is not there."""
    objects, _ = _objects_in(line.decode("utf-8", "replace"))
    entries = (parse_entry(item) for item in objects)
    return next((e.body for e in entries if e is not None and e.id == entry_id), None)


def header_from_name(name: str) -> SessionHeader:
    """Return the header that a file's name (``time_id.jsonl``) still tells."""
    created, _, session = name.removesuffix(".jsonl").rpartition("_")
    return SessionHeader(id=SessionId(session), cwd="", created=created)


def _judge(content: SessionContent, name: str, *, is_empty: bool) -> None:
    if is_empty:
        content.is_new = True
        content.warnings.append("the file was empty, so the session starts anew")
    elif content.header_seen:
        return
    elif content.entries:
        content.warnings.append("the header is lost; the id comes from the file's name")
    else:
        raise SessionError(
            f"{name}: no header and no entry: not a session file",
            hint="the file was left as it is; check the path",
        )


def _take_line(content: SessionContent, known: set[EntryId], line: bytes, number: int) -> None:
    objects, whole = _objects_in(_decode(content, line, number))
    taken = [_take_object(content, known, item, number) for item in objects]
    if not any(taken):
        content.warnings.append(f"line {number}: damaged, skipped ({len(line)} bytes)")
    elif not whole:
        content.warnings.append(f"line {number}: partly damaged, {sum(taken)} recovered")
    elif len(taken) > 1:
        content.warnings.append(f"line {number}: {len(taken)} entries on one line")


def _take_tail(content: SessionContent, known: set[EntryId], tail: bytes, number: int) -> None:
    objects, whole = _objects_in(_decode(content, tail, number))
    taken = sum(_take_object(content, known, item, number) for item in objects)
    if not taken:
        content.warnings.append(f"line {number}: torn, {len(tail)} bytes of an unfinished entry")
        return
    content.tail_missing_newline = True
    if not whole:
        content.warnings.append(f"line {number}: torn after {taken} whole entries, which count")
    elif taken > 1:
        content.warnings.append(f"line {number}: {taken} entries on one line")


def _decode(content: SessionContent, line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        content.warnings.append(f"line {number}: bytes that are not UTF-8 read as U+FFFD")
        return line.decode("utf-8", "replace")


def _take_object(content: SessionContent, known: set[EntryId], data: Any, number: int) -> bool:
    header = parse_header(data)
    if header is not None:
        return _take_header(content, header, number)
    entry = parse_entry(data)
    if entry is None or not is_usable(entry):
        return False
    if entry.id in known:
        content.warnings.append(f"line {number}: entry {entry.id} is there already, skipped")
        return True
    if entry.parent is not None and entry.parent not in known:
        before = _place_before(content, known)
        content.warnings.append(
            f"line {number}: parent {entry.parent} is missing, placed after {before or 'the start'}"
        )
        entry = replace(entry, parent=before)
    known.add(entry.id)
    content.entries.append(entry)
    return True


def _place_before(content: SessionContent, known: set[EntryId]) -> EntryId | None:
    """Return where the conversation stood when the line was written, as far as it can be told."""
    if not content.entries:
        return None
    last = content.entries[-1]
    target = last.body.get("target") if last.type == "leaf" else None
    return EntryId(target) if target in known else last.id


def _take_header(content: SessionContent, header: SessionHeader, number: int) -> bool:
    if header.version > FORMAT_VERSION:
        raise SessionError(
            f"session format: expected up to version {FORMAT_VERSION}, got {header.version}",
            hint="a newer glovebox wrote this session: use that one, or the file beside it that "
            f"ends with .v{FORMAT_VERSION}, if there is one",
        )
    if not content.header_seen:
        content.header, content.header_seen = header, True
    else:
        content.warnings.append(f"line {number}: a second header, skipped")
    return True


def _as_it_is(value: Any) -> Any:
    return value


def _objects_in(text: str) -> tuple[list[Any], bool]:
    """Return the JSON objects of a line, and whether nothing else is in it."""
    objects: list[Any] = []
    whole = True
    # Decoded UTF-8 holds no surrogates: only an escape can bring one.
    mend = mend_text if _ESCAPE in text else _as_it_is
    for _ in range(_MAX_TRIES):
        text = text.lstrip("\0\ufeff \t\r")
        if not text:
            return objects, whole
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            start = text.find(_OBJECT_START, 1)
            if start < 0:
                return objects, False
            whole, text = False, text[start:]
        else:
            objects.append(mend(value))
            text = text[end:]
    return objects, False
