"""The lines of a session file: a header, then entries that form a tree by their parents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

from orchestrator.errors import SessionError
from orchestrator.schema.ids import EntryId, SessionId

FORMAT_VERSION = 2
"""2: edits, labels and compactions count, which a reader of version 1 would pass over in silence."""

_SESSION_ID = re.compile(r"[0-9a-f]{8,16}")
"""Folders are called by it: what a file says of itself must lead to no other place."""

EntryType = Literal[
    "message",
    "model_change",
    "skill_change",
    "compaction",
    "branch_summary",
    "label",
    "approval",
    "leaf",
    "context_edit",
    "custom",
]
"""``leaf`` moves the current leaf to ``body.target``; all others hang below their parent."""

ENTRY_TYPES: frozenset[str] = frozenset(get_args(EntryType))

_FACTS = ("policy_digest", "image_digest", "forked_from", "forked_at")

_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first line: what the session is and what it was started under."""

    id: SessionId
    cwd: str
    """The project's absolute path on the host."""
    created: str
    """RFC 3339, UTC."""
    policy_digest: str = ""
    image_digest: str = ""
    version: int = FORMAT_VERSION
    forked_from: str = ""
    """The session that this one was copied from; "" for one of its own."""
    forked_at: str = ""
    """The entry of that session up to which it was copied; "" for all of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One further line."""

    id: EntryId
    parent: EntryId | None
    """The entry it follows in the conversation; None for a root."""
    type: EntryType
    time: str
    """RFC 3339, UTC; for people: order comes from parents and the place in the file."""
    body: Mapping[str, Any]


def encode_header(header: SessionHeader) -> bytes:
    """Return the header's line, with its line feed."""
    return _encode_line({"type": "session", **asdict(header)})


def encode_entry(entry: Entry) -> bytes:
    """Return the entry's line, with its line feed; raises SessionError unless its body is JSON."""
    return _encode_line(
        {
            "type": entry.type,
            "id": entry.id,
            "parent": entry.parent,
            "time": entry.time,
            "body": dict(entry.body),
        }
    )


def parse_header(data: Any) -> SessionHeader | None:
    """Return the header in one line's data, None when it is none."""
    if not isinstance(data, dict) or data.get("type") != "session":
        return None
    texts = {name: data.get(name, "") for name in ("id", "cwd", "created")}
    facts = {name: data.get(name, "") for name in _FACTS}
    version = data.get("version")
    if not all(isinstance(text, str) for text in (*texts.values(), *facts.values())):
        return None
    if not _SESSION_ID.fullmatch(texts["id"]) or type(version) is not int:
        return None
    return SessionHeader(
        SessionId(texts["id"]), texts["cwd"], texts["created"], **facts, version=version
    )


def parse_entry(data: Any) -> Entry | None:
    """Return the entry in one line's data, None when it is none."""
    if not isinstance(data, dict) or str(data.get("type")) not in ENTRY_TYPES:
        return None
    entry_id, parent, time, body = (data.get(name) for name in ("id", "parent", "time", "body"))
    if not isinstance(entry_id, str) or not entry_id:
        return None
    if "parent" not in data or not isinstance(parent, str | None):
        return None
    if not isinstance(time, str) or not isinstance(body, dict):
        return None
    return Entry(
        EntryId(entry_id),
        None if parent is None else EntryId(parent),
        cast("EntryType", data["type"]),
        time,
        body,
    )


def mend_text(value: Any) -> Any:
    """Return JSON data in which halves of surrogate pairs are joined, lone ones U+FFFD."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {mend_text(key): mend_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mend_text(item) for item in value]
    return value


def _encode_line(data: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as err:
        raise SessionError(
            f"session entry {data.get('type')!r}: expected JSON data: {err}"
        ) from err
