"""Call ids and tool names as a provider accepts them: portable letters, bounded length, each one once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from orchestrator.schema.ids import CallId

PORTABLE = re.compile(r"[A-Za-z0-9_-]+")
NINE = re.compile(r"[A-Za-z0-9]{9}")
"""What Mistral takes, and nothing else."""
MAX_LENGTH = 40
"""Chat Completions takes 40 characters, Responses 64; Anthropic names no limit but the alphabet."""

NAME_LENGTH = 64
"""Characters of a tool's name that all take; Gemini wants a letter first, OpenAI no dots."""


def portable_id(call: CallId) -> CallId:
    """Return the id itself where every provider takes it, else one derived from it."""
    if len(call) <= MAX_LENGTH and PORTABLE.fullmatch(call):
        return call
    digest = hashlib.sha256(call.encode("utf-8", "surrogatepass")).hexdigest()
    return CallId(f"call_{digest[:32]}")


def portable_name(name: str) -> str:
    """Return a tool's name as every provider takes it back: models make up others at times."""
    kept = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:NAME_LENGTH]
    return kept if re.match(r"[A-Za-z_]", kept) else f"_{kept}"[:NAME_LENGTH]


def nine_id(call: CallId, taken: Collection[CallId]) -> CallId:
    """Return an id of exactly nine letters and digits that is not taken; the same for the same."""
    if NINE.fullmatch(call) and call not in taken:
        return call
    number = 0
    while True:
        data = f"{number}:{call}".encode("utf-8", "surrogatepass")
        found = CallId(hashlib.sha256(data).hexdigest()[:9])
        if found not in taken:
            return found
        number += 1


def unused_id(wanted: CallId, taken: Collection[CallId]) -> CallId:
    """Return ``wanted``, or a numbered neighbour where it is empty or taken."""
    base = wanted or CallId("call")
    if wanted and wanted not in taken:
        return wanted
    number = 1 if not wanted else 2
    while CallId(f"{base}_{number}") in taken:
        number += 1
    return CallId(f"{base}_{number}")
