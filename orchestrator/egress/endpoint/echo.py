"""Takes the host's keys out of what a provider answers: in any form, its bytes cut anywhere.

No provider should repeat a key; some do in errors, and one that is hostile would. Text cannot tell
in which encoding it is, so bytes are taken for characters one to one.

A value that is spelled over several events of a stream, a piece in each, is for ``event_echo``.
"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.redaction.known import KnownValues
from orchestrator.redaction.span import merge_spans


@dataclass(frozen=True, slots=True)
class Echoes:
    """What must not come back, and what stands in its place."""

    known: KnownValues
    placeholder: str
    """ASCII."""


class EchoScrub:
    """A stream of bytes in which the placeholder stands for every known value."""

    def __init__(self, echoes: Echoes) -> None:
        """One object a stream."""
        self._known = echoes.known
        self._placeholder = echoes.placeholder
        self._held = ""

    def feed(self, data: bytes) -> bytes:
        """Take the next piece; return what can no longer be part of a value."""
        if not self._known.longest:
            return data
        text = self._held + data.decode("latin-1")
        spans = merge_spans(self._known.find(text))
        safe = self._known.open_tail(text)
        safe = max([safe, *(span.end for span in spans)])
        self._held = text[safe:]
        return self._put(text[:safe], [(span.start, span.end) for span in spans])

    def flush(self) -> bytes:
        """Return the rest."""
        text, self._held = self._held, ""
        return text.encode("latin-1")

    def _put(self, text: str, spans: list[tuple[int, int]]) -> bytes:
        pieces, at = [], 0
        for start, end in spans:
            pieces += [text[at:start], self._placeholder]
            at = end
        return "".join([*pieces, text[at:]]).encode("latin-1")


def scrub_text(text: str, echoes: Echoes) -> str:
    """Return a short text, such as a header's value, without any known value."""
    scrub = EchoScrub(echoes)
    raw = text.encode("utf-8", "surrogateescape")
    return (scrub.feed(raw) + scrub.flush()).decode("utf-8", "surrogateescape")
