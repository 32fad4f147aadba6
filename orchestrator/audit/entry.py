"""One audit record: its canonical bytes, its hash, its line.

A line is exactly the RFC 8785 form of the whole record, so a reader that re-serialises what it
parsed and compares bytes sees any change, even one that means the same in JSON. ``chain`` links
records; ``log`` writes them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from orchestrator.errors import AuditError
from orchestrator.schema.canonical import MAX_SAFE, canonical_json, canonical_text
from orchestrator.schema.ids import Digest, SessionId, digest_of

_MAX_DEPTH = 64
"""Far above any record of ours, far below the recursion limit."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_FIELDS = {"seq": int, "time": str, "session": str, "type": str, "body": dict, "prev": str}


@dataclass(frozen=True, slots=True)
class Record:
    """One link of a chain."""

    seq: int
    time: str
    """RFC 3339, UTC, microseconds."""
    session: SessionId
    type: str
    body: Mapping[str, Any]
    prev: Digest
    """The hash of the record before, 64 zeros for the first."""
    hash: Digest


def seal(unsealed: Mapping[str, Any]) -> Record:
    """Return the record with its hash; ``unsealed`` holds every field but that."""
    return Record(**unsealed, hash=digest_of(canonical_json(dict(unsealed))))


def encode_record(record: Record) -> bytes:
    """Return the record's line, without the line feed."""
    return canonical_json({**_unsealed(record), "hash": record.hash})


def decode_record(line: bytes) -> Record:
    """Return the record a line holds; raises ValueError unless it is canonical and its hash fits."""
    try:
        data = json.loads(line, parse_constant=_refuse_constant)
        record = _record_from(data)
        canonical, expected = encode_record(record), seal(_unsealed(record)).hash
    except (UnicodeError, RecursionError) as err:
        raise ValueError(f"not a record: {err}") from err
    if canonical != line:
        raise ValueError("the line is not in canonical form")
    if record.hash != expected:
        raise ValueError(f"the hash does not fit the content: expected {expected}")
    return record


def timestamp(moment: datetime) -> str:
    """Return the moment as records carry it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def plain_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body as data that survives a JSON round trip unchanged.

    Numbers that a JSON reader could round, and infinities, become their decimal text; half
    surrogate pairs become visible escapes. Anything that is no JSON data raises AuditError.
    """
    if plain_text(body) is not None:
        return dict(body)
    return cast("dict[str, Any]", _plain(body, "body", 0))


def plain_text(body: Mapping[str, Any]) -> str | None:
    """Return the canonical text of a body that is plain as it stands; None where it may not be."""
    text = canonical_text(body)
    # Beyond ASCII there could be half a surrogate pair in it.
    return text if text is not None and text.isascii() else None


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise AuditError(f"audit {place}: nested deeper than {_MAX_DEPTH}")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", value)
    if isinstance(value, int | float):
        return _plain_number(value)
    if isinstance(value, Mapping):
        return _plain_items(value.items(), place, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item, f"{place}[{at}]", depth + 1) for at, item in enumerate(value)]
    raise AuditError(f"audit {place}: expected JSON data, got {type(value).__name__}")


def _plain_number(value: float) -> int | float | str:
    if isinstance(value, int):
        return int(value) if abs(value) <= MAX_SAFE else str(int(value))
    # A whole float is written without a point, so a reader takes it for an integer.
    return value if math.isfinite(value) and abs(value) <= MAX_SAFE else repr(value)


def _plain_items(items: Iterable[tuple[Any, Any]], place: str, depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in items:
        if not isinstance(key, str):
            raise AuditError(f"audit {place}: expected text keys, got {type(key).__name__}")
        name = _plain(key, place, depth)
        if name in plain:
            raise AuditError(f"audit {place}: two keys read {name!r}")
        plain[name] = _plain(value, f"{place}.{name}", depth + 1)
    return plain


def _unsealed(record: Record) -> dict[str, Any]:
    return {
        "seq": record.seq,
        "time": record.time,
        "session": record.session,
        "type": record.type,
        "body": record.body,
        "prev": record.prev,
    }


def _record_from(data: Any) -> Record:
    if not isinstance(data, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004 - one error for a bad line
    if data.keys() != {*_FIELDS, "hash"}:
        raise ValueError(f"expected the fields {', '.join((*_FIELDS, 'hash'))}")
    for name, kind in _FIELDS.items():
        if type(data[name]) is not kind:
            raise ValueError(f"{name}: expected {kind.__name__}, got {type(data[name]).__name__}")
    for name in ("prev", "hash"):
        if not DIGEST.fullmatch(str(data[name])):
            raise ValueError(f"{name}: expected sha256: and 64 hex digits")
    return Record(**data)


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
