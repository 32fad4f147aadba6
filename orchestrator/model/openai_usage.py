"""Token counts as OpenAI and its imitators report them; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.schema.message import Usage


def usage_from(data: Mapping[str, Any] | None, *, side: tuple[str, str]) -> Usage:
    """Return the counts; ``side`` names the two fields. OpenAI counts cached tokens into input."""
    if not data:
        return Usage()
    inward, outward = side
    details = data.get(f"{inward}_details")
    details = details if isinstance(details, Mapping) else {}
    # DeepSeek and Moonshot report them beside the sum, under names of their own.
    read = max(
        _count(details, "cached_tokens"),
        _count(data, "prompt_cache_hit_tokens"),
        _count(data, "cached_tokens"),
    )
    written = _count(details, "cache_write_tokens")
    whole = _count(data, inward)
    return Usage(max(whole - read - written, 0), _count(data, outward), read, written)


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and value > 0 else 0
