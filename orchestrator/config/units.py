"""Durations and sizes as people write them: ``30m``, ``4GiB``."""

from __future__ import annotations

import re

from orchestrator.errors import ConfigError

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


def parse_duration(text: str) -> float:
    """Return seconds; raises ConfigError without a number and one of ``ms s m h d``."""
    return _parse(text, SECONDS, "a duration such as 30m")


def parse_size(text: str) -> int:
    """Return bytes; raises ConfigError without a number and a unit such as ``MiB``."""
    return int(
        _parse(text, {name: float(value) for name, value in BYTES.items()}, "a size such as 4GiB")
    )


def _parse(text: str, units: dict[str, float], wanted: str) -> float:
    match = NUMBER.fullmatch(text)
    if match is None or match[2] not in units:
        raise ConfigError(f"expected {wanted}, got {text!r}", hint=f"units: {', '.join(units)}")
    return float(match[1]) * units[match[2]]
