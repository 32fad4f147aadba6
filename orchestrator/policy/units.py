"""Durations and sizes as people write them: always with a unit, so that none is misread."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+\Z")
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\Z")
_BYTES = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_MAX_BYTES = 2**50
"""Far above any machine, and below where canonical JSON loses integers (2**53)."""
_MAX_SECONDS = 366 * 86400.0


def parse_duration(text: Any) -> float:
    """Return seconds for ``90s``, ``1h30m`` or ``2d``; raises ValueError."""
    if not isinstance(text, str) or not _DURATION.match(text):
        raise ValueError(f"expected a duration with a unit, such as 30s, 10m or 2h, got {text!r}")
    parts = _DURATION_PART.findall(text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 < seconds <= _MAX_SECONDS:
        raise ValueError(f"expected a duration above zero and at most 366 days, got {text!r}")
    return seconds


def parse_size(text: Any) -> int:
    """Return bytes for ``4GiB``, ``512MiB`` or ``10kB``; raises ValueError."""
    match = _SIZE.match(text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f"expected a size with a unit, such as 512MiB or 4GiB, got {text!r}")
    size = int(float(match[1]) * _BYTES[match[2]])
    if not 0 < size <= _MAX_BYTES:
        raise ValueError(f"expected a size above zero and at most 1024TiB, got {text!r}")
    return size


def show_duration(seconds: float) -> str:
    """Return the duration in its largest whole unit."""
    for unit in ("d", "h", "m", "s"):
        count = seconds / _SECONDS[unit]
        if count >= 1 and count.is_integer():
            return f"{int(count)}{unit}"
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"


def show_size(size: int) -> str:
    """Return the size in its largest whole binary unit."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size % _BYTES[unit] == 0:
            return f"{size // _BYTES[unit]}{unit}"
    return f"{size}B"


Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": "string", "pattern": _DURATION.pattern.removesuffix(r"\Z") + "$"}),
]
Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema({"type": "string", "pattern": _SIZE.pattern.removesuffix(r"\Z") + "$"}),
]
