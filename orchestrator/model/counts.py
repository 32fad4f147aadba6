"""Token counts as a server wrote them: a whole number of at least one, or nothing; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def count(data: Mapping[str, Any], name: str) -> int:
    """Return a count; 0 for what is none: absent, negative, a fraction, a text, NaN."""
    value = data.get(name)
    if isinstance(value, float) and value.is_integer():
        # Servers that know no whole numbers write 12.0.
        value = int(value)
    return value if type(value) is int and value > 0 else 0
