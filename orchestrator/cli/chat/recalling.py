"""What was said last in a session that is taken up again, in short. Pure, raw texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.sessions.entry import Entry
from orchestrator.sessions.places import said

SHOWN = 3
"""Exchanges that are shown again."""
SAID_LINES, ANSWER_LINES = 4, 12
LONGEST = 400
"""Characters of one line."""


@dataclass(slots=True)
class Exchange:
    """One thing that the person said, and what came of it."""

    said: str
    answer: str = ""
    """The last text of the model."""
    calls: int = 0


def exchanges(path: Sequence[Entry]) -> list[Exchange]:
    """Return what was said along a conversation, the oldest first."""
    found: list[Exchange] = []
    for entry in path:
        if entry.type != "message":
            continue
        if entry.body["role"] == "user":
            found.append(Exchange(said(entry)))
        elif entry.body["role"] == "assistant" and found:
            content = entry.body["content"]
            found[-1].calls += sum(part["type"] == "tool_call" for part in content)
            text = "".join(part["text"] for part in content if part["type"] == "text").strip()
            found[-1].answer = text or found[-1].answer
    return found


def recalled(found: Sequence[Exchange]) -> Iterator[tuple[str, str]]:
    """Yield the last exchanges as lines, each with what it is: ``said``, ``answer`` or ``note``."""
    if not found:
        return
    before = len(found) - SHOWN
    if before > 0:
        yield "note", f"… {before} earlier: /tree shows {'them' if before > 1 else 'it'}"
    for exchange in found[-SHOWN:]:
        yield from (("said", line) for line in _cut(exchange.said, SAID_LINES))
        if exchange.calls:
            yield "note", f"  … {exchange.calls} call{'s' * (exchange.calls > 1)} of tools"
        yield from (("answer", line) for line in _cut(exchange.answer, ANSWER_LINES))
    yield "note", "the conversation goes on from here"


def _cut(text: str, most: int) -> Iterator[str]:
    lines = text.split("\n") if text else []
    for line in lines[:most]:
        yield line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
    if len(lines) > most:
        yield f"… {len(lines) - most} more lines"
