"""A session made fit to be given away: no secrets, no providers' marks, no home directory. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.picture_data import PICTURE_STARTS, is_base64
from orchestrator.sessions.entry import Entry, SessionHeader, encode_entry, encode_header

Redact = Callable[[Any], Any]
"""Returns JSON data with every secret replaced, in the same shape."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What may be given away."""

    header: SessionHeader
    entries: tuple[Entry, ...]


def shareable(
    header: SessionHeader, entries: Iterable[Entry], redact: Redact, *, home: str = ""
) -> Shared:
    """Return the session without secrets; ``home`` is shown as ``~``.

    Signatures and encrypted reasoning are left out: they are long, opaque, and of use to their
    provider alone.
    """
    cwd = header.cwd
    if home.strip("/") and (cwd + "/").startswith(home.rstrip("/") + "/"):
        cwd = "~" + cwd[len(home.rstrip("/")) :]
    told = redact({"cwd": cwd})
    return Shared(
        replace(header, cwd=str(told["cwd"])),
        tuple(replace(entry, body=_redacted(entry.body, redact)) for entry in entries),
    )


def jsonl(shared: Shared) -> bytes:
    """Return a session file, which any command of ``sessions`` reads again."""
    return b"".join((encode_header(shared.header), *map(encode_entry, shared.entries)))


def _redacted(body: Mapping[str, Any], redact: Redact) -> Any:
    """Return a body redacted; pictures stay as they are, whose digits would look like keys."""
    pictures: list[Any] = []
    return _put(redact(_taken(body, pictures)), iter(pictures))


def _taken(value: Any, pictures: list[Any]) -> Any:
    """Return data without pictures and marks, a call's arguments as data."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        kept = {key: item for key, item in value.items() if key != "signature"}
        if kind == "image" and _is_picture(kept.get("data")):
            pictures.append(kept["data"])
            kept["data"] = ""
        if kind == "tool_call":
            arguments = parse_arguments(str(kept.get("arguments")))
            kept["arguments"] = kept.get("arguments") if arguments is None else arguments
        return {key: _taken(item, pictures) for key, item in kept.items()}
    if isinstance(value, list | tuple):
        return [_taken(item, pictures) for item in value]
    return value


def _is_picture(data: Any) -> bool:
    """Say whether data are a picture's bytes, and not a text where one should be."""
    return isinstance(data, str) and (
        not data or (data.startswith(PICTURE_STARTS) and is_base64(data))
    )


def _put(value: Any, pictures: Any) -> Any:
    if isinstance(value, Mapping):
        whole = {key: _put(item, pictures) for key, item in value.items()}
        if whole.get("type") == "image" and whole.get("data") == "":
            whole["data"] = next(pictures)
        if whole.get("type") == "tool_call" and isinstance(whole.get("arguments"), dict):
            whole["arguments"] = json.dumps(whole["arguments"], ensure_ascii=False)
        return whole
    if isinstance(value, list):
        return [_put(item, pictures) for item in value]
    return value
