"""The RFC 8785 form of JSON data, by the encoder of the standard library where both say the same.

They differ in floats, in numbers that a reader could round, in half surrogate pairs, and in the
order of keys beyond ASCII; what holds one of these goes to ``rfc8785``, which takes ten times as long.
"""

from __future__ import annotations

import json
from typing import Any

import rfc8785

MAX_SAFE = 2**53 - 1
"""RFC 7493: beyond it a JSON reader may round."""

_DEPTH = 8
"""Levels that are looked at; what is nested deeper is a hard case too."""
_WORDS = frozenset({str, bool, type(None)})

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 form; ``rfc8785.CanonicalizationError`` for what has none."""
    text = canonical_text(value)
    if text is not None:
        try:
            return text.encode()
        except UnicodeEncodeError:
            # A half surrogate pair, which the other one refuses by its own name.
            return rfc8785.dumps(value)
    return rfc8785.dumps(value)


def canonical_text(value: Any) -> str | None:
    """Return the canonical form as text, half surrogate pairs as they are; None for hard cases."""
    return _encode(value) if _is_simple(value) else None


def _is_simple(value: Any, depth: int = _DEPTH) -> bool:
    """Say whether data is of the exact types, and in the range, in which the two agree."""
    kind = type(value)
    if kind in _WORDS:
        return True
    if kind is int:
        return bool(-MAX_SAFE <= value <= MAX_SAFE)
    if not depth:
        return False
    if kind is list:
        return all(_is_simple(item, depth - 1) for item in value)
    if kind is not dict:
        return False
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            return False
        if type(item) not in _WORDS and not _is_simple(item, depth - 1):
            return False
    return True
