"""Reading JSON that a server sent, field by field, without trusting its shape."""

from __future__ import annotations

import json
from typing import Any


def json_object(body: bytes) -> dict[str, Any]:
    """Return the object that a page is; ValueError for anything else."""
    try:
        found = json.loads(body)
    except RecursionError as err:
        raise ValueError("nested too deeply") from err
    if not isinstance(found, dict):
        raise ValueError("an object expected")  # noqa: TRY004 - a page's fault, not a caller's
    return found


def rows(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; nothing where it is no list."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def text_of(row: dict[str, Any], key: str) -> str:
    """Return a field's text; empty where it is no text."""
    value = row.get(key)
    return value if isinstance(value, str) else ""
