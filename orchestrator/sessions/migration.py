"""From an older format of session files to today's: pure, one step a version.

Entries stay byte for byte, damaged lines too: a step rewrites the header's line alone. A later step
that has to change entries gets a function of its own here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from orchestrator.errors import SessionError
from orchestrator.sessions.entry import FORMAT_VERSION, encode_header, parse_header


def _from_1(header: dict[str, Any]) -> dict[str, Any]:
    """Give the header its origin: nothing of version 1 was a copy.

    Edits and labels count from version 2 on; none is found in version 1, as nothing wrote them.
    """
    return {**header, "version": 2, "forked_from": "", "forked_at": ""}


STEPS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType({1: _from_1})


def migrate(data: bytes, version: int) -> bytes:
    """Return the file in today's format; SessionError for a version that never was.

    A header that is not in the first line, as damage may have it, gets a new line before all.
    """
    first, feed, rest = data.partition(b"\n")
    header = _header_in(first)
    whole = header or next(filter(None, map(_header_in, rest.split(b"\n"))), None)
    if whole is None:
        raise SessionError("session format: the header cannot be found again")
    while version != FORMAT_VERSION:
        step = STEPS.get(version)
        if step is None:
            raise SessionError(
                f"session format: expected a version from 1 to {FORMAT_VERSION}, got {version}",
                hint="the file was left as it is",
            )
        whole = step(whole)
        version = whole["version"]
    parsed = parse_header(whole)
    if parsed is None:
        raise SessionError("session format: the header does not hold after the change")
    return encode_header(parsed) + (rest if header and feed else b"" if header else data)


def _header_in(line: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return data if parse_header(data) is not None else None
