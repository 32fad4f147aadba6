"""Which results are shortened when not everything fits: the largest first, of those the oldest. Pure.

The session file keeps them whole; the model sees a beginning, an end, and how to see the rest. The
end stays, since it says where the full output lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.context.sizes import message_tokens, result_tokens
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import ToolMessage, ToolResult
from orchestrator.schema.middle import without_middle
from orchestrator.schema.picture_tokens import PictureRule
from orchestrator.sessions.projection import Seen

LEFT = 600
"""Characters of a shortened result."""
WORTH = 400
"""Tokens that shortening one must save; less is not worth a changed prefix."""
GONE = (
    "[... {count} characters left out to save room; if you need them, read the full output named "
    "below, or look again ...]"
)
NO_PICTURE = "[a picture was left out to save room; look again if you need it]"


@dataclass(frozen=True, slots=True)
class Trimmed:
    """One stored message as the model sees it from now on."""

    entry: EntryId
    message: ToolMessage
    saved: int
    """Tokens, about."""


def results_share(seen: Sequence[Seen], rule: PictureRule = "unknown") -> int:
    """Return the tokens that results take up."""
    return sum(message_tokens(s.message, rule) for s in seen if isinstance(s.message, ToolMessage))


def trim(seen: Sequence[Seen], excess: int, rule: PictureRule = "unknown") -> tuple[Trimmed, ...]:
    """Return what to shorten so that about ``excess`` tokens are saved, or as many as can be.

    ``seen`` leaves out what is too recent to be touched.
    """
    candidates = [
        (result_tokens(result, rule), -at, number)
        for at, item in enumerate(seen)
        if isinstance(item.message, ToolMessage)
        for number, result in enumerate(item.message.results)
        if _saving(result, rule) >= WORTH
    ]
    chosen: dict[int, set[int]] = {}
    saved = 0
    for _, place, number in sorted(candidates, reverse=True):
        if saved >= excess:
            break
        message = seen[-place].message
        if isinstance(message, ToolMessage):
            saved += _saving(message.results[number], rule)
            chosen.setdefault(-place, set()).add(number)
    return tuple(_trimmed(seen[at], numbers, rule) for at, numbers in sorted(chosen.items()))


def _trimmed(item: Seen, numbers: set[int], rule: PictureRule) -> Trimmed:
    if not isinstance(item.message, ToolMessage):
        raise TypeError("only results are trimmed")
    results = tuple(
        _short(result) if number in numbers else result
        for number, result in enumerate(item.message.results)
    )
    saved = sum(_saving(item.message.results[number], rule) for number in numbers)
    return Trimmed(item.entry.id, ToolMessage(results), saved)


def _saving(result: ToolResult, rule: PictureRule) -> int:
    return result_tokens(result, rule) - result_tokens(_short(result), rule)


def _short(result: ToolResult) -> ToolResult:
    """Return the result with its middle and its pictures left out."""
    text = result.output
    if len(text) > LEFT + len(GONE):
        text = without_middle(text, LEFT, GONE)
    if result.images:
        text = f"{text}\n{NO_PICTURE}".lstrip("\n")
    return replace(result, output=text, images=())
