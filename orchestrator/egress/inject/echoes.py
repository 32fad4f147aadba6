"""Secrets that a server gives back, replaced in its bytes by what the box knows them by.

What comes out is as long as what went in, so that lengths and frames that were announced still
hold. Known values are found as in redaction: in base64, hex, percent signs, JSON and wrapped too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from orchestrator.redaction.known import KnownValues
from orchestrator.redaction.span import Span, merge_spans

_FILL = "*"
_REACH = 96
_OPEN_ESCAPES = re.compile(r"[!-~]{0,3}(?:[%\\&][0-9A-Za-z#%;\\&]{0,11}){1,5}\Z")
"""At a cut: too few escaped characters to say whether a value begins with them."""
_HEX = re.compile(r"[0-9a-f]+\Z|[0-9A-F]+\Z")


class Echoes:
    """What may come back, and what to put in its place."""

    def __init__(self, placeholders: Mapping[str, str]) -> None:
        """``placeholders``: by the value that each stands for."""
        self.placeholders = dict(placeholders)
        names = {f"s{number}": value for number, value in enumerate(placeholders)}
        self._known = KnownValues(names)
        self._by_name = {name: placeholders[value] for name, value in names.items()}

    def scrub(self, data: bytes) -> bytes:
        """Return a whole text without any secret."""
        return self._replaced(data.decode("latin-1"))[0].encode("latin-1")

    def cut(self, text: str) -> tuple[str, int]:
        """Return a text without its secrets, and up to where nothing that follows matters to it."""
        safe, spans = self._replaced(text)
        end = self._known.open_tail(text)
        escapes = _OPEN_ESCAPES.search(text, max(0, len(text) - _REACH))
        if escapes is not None:
            end = min(end, escapes.start())
        crossing = [span.end for span in spans if span.start < end < span.end]
        return safe, max(end, *crossing) if crossing else end

    def _replaced(self, text: str) -> tuple[str, list[Span]]:
        spans = merge_spans(self._known.find(text))
        pieces: list[str] = []
        done = 0
        for span in spans:
            pieces += (text[done : span.start], self._instead(text[span.start : span.end], span))
            done = span.end
        pieces.append(text[done:])
        return "".join(pieces), spans

    def _instead(self, found: str, span: Span) -> str:
        placeholder = self._by_name[span.kind]
        if len(found) == 2 * len(placeholder) and _HEX.match(found):
            placeholder = placeholder.encode().hex()
        return placeholder[: len(found)].ljust(len(found), _FILL)


class EchoStream:
    """The same for bytes that come in pieces: what may be half a secret waits for the rest."""

    def __init__(self, echoes: Echoes) -> None:
        """Begin a body."""
        self._echoes = echoes
        self._held = ""

    def feed(self, data: bytes) -> bytes:
        """Return what can no longer become a secret."""
        self._held += data.decode("latin-1")
        safe, end = self._echoes.cut(self._held)
        self._held = self._held[end:]
        return safe[:end].encode("latin-1")

    def end(self) -> bytes:
        """Return the rest."""
        held, self._held = self._held, ""
        return self._echoes.scrub(held.encode("latin-1"))
