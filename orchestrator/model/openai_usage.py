"""Token counts as OpenAI and its imitators report them; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.model.counts import count
from orchestrator.schema.message import Usage


def usage_from(data: Any, *, side: tuple[str, str]) -> Usage:
    """Return the counts; ``side`` names the two fields. OpenAI counts cached tokens into input."""
    if not isinstance(data, Mapping):
        return Usage()
    inward, outward = side
    details = data.get(f"{inward}_details")
    details = details if isinstance(details, Mapping) else {}
    # DeepSeek and Moonshot report them beside the sum, under names of their own.
    read = max(
        count(details, "cached_tokens"),
        count(data, "prompt_cache_hit_tokens"),
        count(data, "cached_tokens"),
    )
    written = count(details, "cache_write_tokens")
    whole = count(data, inward)
    return Usage(max(whole - read - written, 0), count(data, outward), read, written)
