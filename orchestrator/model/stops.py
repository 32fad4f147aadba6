"""Why an answer ended, in words that nobody foresaw; pure.

A word that is not known is still the provider saying that it stopped. What it means is read from
its parts; asking again would bring the same word, and be paid for again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from orchestrator.model.errors import TWICE, Failure, model_error
from orchestrator.schema.message import StopReason

MOST_OF_WORD = 80
"""Characters of such a word that are kept."""
_BROKEN = re.compile(
    r"err|fail|abort|cancel|time.?out|unavailable|overload|network|interrupt|disconnect|malformed"
    r"|invalid|too.?many|resource|unexpected|unspecified|unknown|other",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"filter|safety|refus|block|sensitive|moderat|prohibit|recit|violat|polic|guard", re.IGNORECASE
)
_CUT = re.compile(r"length|max|limit|trunc|exceed|context|budget|quota", re.IGNORECASE)
_WINDOW = re.compile(r"context|window", re.IGNORECASE)
_CALLS = re.compile(r"tool|function", re.IGNORECASE)


def guessed(word: str) -> StopReason | None:
    """Return what an unknown word says of the end; None where the answer broke off or failed."""
    if _FILTERED.search(word):
        return "refusal"
    if _BROKEN.search(word):
        return None
    if _CUT.search(word):
        return "max_tokens"
    return "tool_use" if _CALLS.search(word) else "end_turn"


def fills_window(word: str) -> bool:
    """Say whether a provider's word for the end is that the model's window is full."""
    return guessed(word) == "max_tokens" and _WINDOW.search(word) is not None


def ended(
    word: str, known: Mapping[str, StopReason], *, model: str, why: str = ""
) -> tuple[StopReason, str]:
    """Return how an answer ended, and its provider's word for it where that is none that is known.

    Raises ModelError where the word says that it broke off.
    """
    stop = next((known[form] for form in (word, word.lower(), word.upper()) if form in known), None)
    if stop is not None:
        return stop, ""
    guess = guessed(word)
    if guess is None:
        told = f"the answer ended with {word!r}" + (f": {why}" if why else "")
        raise model_error(model, Failure(200, message=told), tries=TWICE)
    return guess, word[:MOST_OF_WORD]
