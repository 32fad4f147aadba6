"""Replacing texts in one file: all edits or none, each matched against the original."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hunks import Change, split_lines, unified
from near import nearest
from paths import Place, Roots, placed
from read import open_regular
from refusal import Refusal
from replace import replace
from spans import MAX_COUNTED, MAX_REPLACED, Haystack, Span, first_overlap, replaced
from write import text_bytes

MAX_FILE = 20 * 1024**2
"""Bytes of a file that is edited; it is held in memory several times."""

MAX_LINES = 5
"""Line numbers named in a message."""

BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def edit(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Replace each old text by its new one; returns how many, on which lines, and the diff."""
    asked = str(request["path"])
    edits = _edits(request["edits"])
    with placed(request, roots, "write") as place:
        place.bear(sum(len(old) + len(new) for old, new in edits))
        content, status = _content(place, asked)
        mark = BOM if content.startswith(BOM) else b""
        haystack = Haystack(content.removeprefix(mark))
        if request.get("replace_all"):
            # The whole may be larger by far than its parts.
            place.bear(sum(haystack.text.count(_lf(old)) * len(new) for old, new in edits))
        try:
            spans = plan(haystack, edits, replace_all=bool(request.get("replace_all")), mark=mark)
        except Refusal as refusal:
            raise Refusal(
                refusal.code, f"{asked}: {refusal.message}; nothing was written"
            ) from None
        result = mark + replaced(haystack.content, spans)
        _refuse_changed(place, status, asked)
        replace(place.parent, place.rest[0], result, old=status)
        return _answer(place.shown, haystack.content, spans)


def plan(
    haystack: Haystack,
    edits: Sequence[tuple[bytes, bytes]],
    *,
    replace_all: bool,
    mark: bytes = b"",
) -> list[Span]:
    """Return the regions to replace, sorted; refuses unless every edit can be made."""
    spans: list[Span] = []
    for index, (old, new) in enumerate(edits):
        name = f"edit {index + 1} of {len(edits)}" if len(edits) > 1 else "the edit"
        before = _lf(old).removeprefix(mark)
        after = _lf(new).removeprefix(mark)
        _refuse_pointless(name, before, after, differ=old != new)
        places = _matches(haystack, before, name, replace_all=replace_all)
        spans += [haystack.span(place, before, after, edit=index) for place in places]
    spans.sort(key=lambda span: span.start)
    overlap = first_overlap(spans)
    if overlap is not None:
        raise _overlap(haystack, *overlap)
    return spans


def _edits(items: Sequence[dict[str, Any]]) -> list[tuple[bytes, bytes]]:
    if not items:
        raise Refusal("invalid", "edits: is empty; give at least one")
    return [
        (text_bytes(str(item["old"]), "oldText"), text_bytes(str(item["new"]), "newText"))
        for item in items
    ]


def _content(place: Place, asked: str) -> tuple[bytes, os.stat_result]:
    handle, status = open_regular(place, asked)
    try:
        if status.st_size > MAX_FILE:
            raise Refusal(
                "too_large",
                f"{asked}: {status.st_size} bytes, edit takes up to {MAX_FILE}; use bash (sed)",
            )
        with os.fdopen(os.dup(handle), "rb") as file:
            content = file.read(MAX_FILE)
    finally:
        os.close(handle)
    if content.startswith(_WIDE):
        raise Refusal("binary", f"{asked}: is UTF-16 text, edit takes UTF-8; use bash (iconv)")
    return content, status


def _refuse_changed(place: Place, read: os.stat_result, asked: str) -> None:
    """Refuse when somebody wrote the file since it was read, as far as a look can tell."""
    now = os.stat(place.rest[0], dir_fd=place.parent, follow_symlinks=False)
    if (now.st_ino, now.st_size, now.st_mtime_ns) != (read.st_ino, read.st_size, read.st_mtime_ns):
        raise Refusal("changed", f"{asked}: was changed by another program meanwhile; try again")


def _refuse_pointless(name: str, old: bytes, new: bytes, *, differ: bool) -> None:
    if not old:
        raise Refusal("empty_old", f"{name}: oldText is empty; give the text to replace")
    if old == new:
        why = " but for line endings, which edit keeps (use bash to convert)" if differ else ""
        raise Refusal("no_change", f"{name}: oldText and newText are the same{why}")


def _matches(haystack: Haystack, old: bytes, name: str, *, replace_all: bool) -> list[int]:
    found = haystack.disjoint(old) if replace_all else haystack.occurrences(old)
    if not found:
        raise _no_match(haystack, old, name)
    if len(found) > MAX_REPLACED:
        raise Refusal(
            "too_large", f"{name}: oldText occurs more than {MAX_REPLACED} times; use bash (sed)"
        )
    if replace_all or len(found) == 1:
        return found
    count = f"{len(found)}" if len(found) <= MAX_COUNTED else f"more than {MAX_COUNTED}"
    lines = ", ".join(str(haystack.line(place)) for place in found[:MAX_LINES])
    more = ", ..." if len(found) > MAX_LINES else ""
    raise Refusal(
        "many_matches",
        f"{name}: oldText occurs {count} times (lines {lines}{more}), expected once; add lines "
        "around it until it is unique, or set replaceAll",
    )


def _no_match(haystack: Haystack, old: bytes, name: str) -> Refusal:
    message = f"{name}: oldText occurs 0 times, expected once"
    candidate = nearest(haystack.text, old)
    if candidate is None:
        return Refusal("no_match", f"{message}; read the file again and copy the text exactly")
    return Refusal(
        "no_match",
        f"{message}; the text at line {candidate.line} {candidate.difference}:\n"
        f"{candidate.text}\ncopy it exactly if it is what you mean",
    )


def _overlap(haystack: Haystack, left: Span, right: Span) -> Refusal:
    line = haystack.content.count(b"\n", 0, right.start) + 1
    return Refusal(
        "overlap",
        f"edits {left.edit + 1} and {right.edit + 1} overlap at line {line}; make them one edit",
    )


def _answer(path: str, content: bytes, spans: Sequence[Span]) -> dict[str, Any]:
    lines = split_lines(content)
    changes = _changes(content, spans)
    return {
        "replacements": len(spans),
        "lines": [change.start + 1 for change in changes],
        "diff": unified(path, lines, changes),
    }


def _changes(content: bytes, spans: Sequence[Span]) -> list[Change]:
    """Widen spans to whole lines; those that share a line become one change."""
    groups: list[tuple[int, int, list[Span]]] = []
    for span in spans:
        start, stop = _line_extent(content, span)
        if groups and start < groups[-1][1]:
            first, reached, members = groups[-1]
            members.append(span)
            groups[-1] = (first, max(reached, stop), members)
        else:
            groups.append((start, stop, [span]))
    changes: list[Change] = []
    line = position = 0
    for start, stop, members in groups:
        line += content.count(b"\n", position, start)
        position = start
        old = content[start:stop]
        shifted = [Span(s.start - start, s.stop - start, s.new, s.edit) for s in members]
        new = split_lines(replaced(old, shifted))
        changes.append(Change(line, line + len(split_lines(old)), tuple(new)))
    return changes


def _line_extent(content: bytes, span: Span) -> tuple[int, int]:
    """Return the whole lines a span touches, with the next one where it eats a newline."""
    start = content.rfind(b"\n", 0, span.start) + 1
    keeps_end = span.new.endswith(b"\n") or (not span.new and span.start == start)
    if content[span.stop - 1 : span.stop] == b"\n" and keeps_end:
        return start, span.stop
    end = content.find(b"\n", span.stop)
    return start, len(content) if end < 0 else end + 1


def _lf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n")
