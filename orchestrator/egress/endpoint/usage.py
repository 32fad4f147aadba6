"""Token counts as each API reports them, in one answer or at the end of a stream. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.egress.endpoint.routes import Shape
from orchestrator.schema.message import Usage

Counts = Mapping[str, Any]


def counts_in(data: object, shape: Shape) -> Counts | None:
    """Return the part of an answer, or of one event of a stream, that reports tokens."""
    if not isinstance(data, Mapping):
        return None
    places: tuple[Any, ...] = (data.get("usageMetadata") if shape == "gemini" else data,)
    if shape != "gemini":
        inner = data.get("message") if shape == "anthropic" else data.get("response")
        places = (data.get("usage"), inner.get("usage") if isinstance(inner, Mapping) else None)
        if "input_tokens" in data:
            places = (data, *places)
    return next((place for place in places if isinstance(place, Mapping)), None)


def merge_counts(before: Counts, after: Counts) -> Counts:
    """Return both, the later ones where both report: Anthropic tells its input first."""
    return {**before, **{name: value for name, value in after.items() if value is not None}}


def usage_of(counts: Counts, shape: Shape) -> Usage:
    """Return the counts in one form; ``input`` leaves out what came from a cache."""
    return _FORMS[shape](counts)


def kept_longer(counts: Counts) -> int:
    """Return how many tokens were written to a cache for an hour, which costs more."""
    detail = counts.get("cache_creation")
    return _count(detail, "ephemeral_1h_input_tokens") if isinstance(detail, Mapping) else 0


def _anthropic(counts: Counts) -> Usage:
    return Usage(
        input=_count(counts, "input_tokens"),
        output=_count(counts, "output_tokens"),
        cache_read=_count(counts, "cache_read_input_tokens"),
        cache_write=_count(counts, "cache_creation_input_tokens"),
    )


def _openai(counts: Counts) -> Usage:
    """Chat and Responses name the same by other words; both count cached tokens into input."""
    inward = "prompt_tokens" if "prompt_tokens" in counts else "input_tokens"
    outward = "completion_tokens" if "completion_tokens" in counts else "output_tokens"
    details = counts.get(f"{inward}_details")
    details = details if isinstance(details, Mapping) else {}
    read, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    whole = _count(counts, inward)
    return Usage(max(whole - read - written, 0), _count(counts, outward), read, written)


def _gemini(counts: Counts) -> Usage:
    read = _count(counts, "cachedContentTokenCount")
    prompt = _count(counts, "promptTokenCount") + _count(counts, "toolUsePromptTokenCount")
    output = _count(counts, "candidatesTokenCount") + _count(counts, "thoughtsTokenCount")
    return Usage(max(prompt - read, 0), output, read)


def _count(counts: Counts, name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and value > 0 else 0


_FORMS = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini}
