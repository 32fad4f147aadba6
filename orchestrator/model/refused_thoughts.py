"""Providers' words for a thought, or its signature, that they do not take back; pure."""

from __future__ import annotations

import re

_BAD = r"(invalid|not valid|corrupted|expired|malformed|mismatch\w*|unverifiable)"
_FAILED = r"(could not|cannot|can't|failed to|unable to|not) (be )?(verif|decrypt|decod|pars|modif)"
_MARK = r"(thought|thinking|reasoning)[ _.`'\"]{0,4}(\w+[ _.`'\"]{1,3})?(signatures?|data)\b"
_REFUSED = re.compile(
    # Anthropic, also behind a router: "Invalid `signature` in `thinking` block".
    rf"{_BAD} .?(signature|data).? (in|for|of) .{{0,30}}(thinking|thought|reasoning)"
    r"|\bthinking\b.{0,40}\bblocks?\b.{0,60}cannot be modified"
    # Gemini: "Corrupted thought signature.", "Thought signature is not valid".
    rf"|{_BAD} .?{_MARK}|{_MARK}.{{0,30}}\b({_BAD}|{_FAILED})"
    # OpenAI: an item of another organisation, or one that a server should have kept.
    rf"|encrypted.?content\b.{{0,200}}\b({_BAD}|{_FAILED})"
    r"|\bitem with id '?rs_\w+'? (was )?not found|'?rs_\w+'? of type 'reasoning' was provided without",
    re.IGNORECASE | re.DOTALL,
)


def refuses_thoughts(words: str) -> bool:
    """Say whether a provider refused thoughts that it, or another server of its name, gave before."""
    return _REFUSED.search(words) is not None
