"""A tool's schema as Gemini reads it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose members are named by the tool, not by JSON Schema."""
_DATA = frozenset({"enum", "default", "examples", "required"})
"""Keywords that hold data, which is no schema whatever it looks like."""


def told_by_enum(schema: Any) -> Any:
    """Return a schema in which each ``const`` is an ``enum`` of one: Gemini passes a const over."""
    if isinstance(schema, list):
        return [told_by_enum(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {name: _inside(name, value) for name, value in schema.items()}
    if isinstance(found.get("const"), str | int | float) and "enum" not in found:
        found["enum"] = [found.pop("const")]
    return found


def _inside(keyword: str, value: Any) -> Any:
    if keyword in _DATA or keyword == "const":
        return value
    if keyword in _NAMED and isinstance(value, Mapping):
        return {name: told_by_enum(member) for name, member in value.items()}
    return told_by_enum(value)
