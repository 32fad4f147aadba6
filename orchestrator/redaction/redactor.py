"""One session's redaction: secrets out of any text, and back into the file they came from."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from orchestrator.redaction.assignments import find_assignments, is_secret_field
from orchestrator.redaction.command_lines import find_command_line_secrets
from orchestrator.redaction.headers import find_header_secrets
from orchestrator.redaction.key_blocks import find_key_blocks
from orchestrator.redaction.known import KnownValues
from orchestrator.redaction.placeholder import PLACEHOLDER, Ledger, placeholders_in
from orchestrator.redaction.shapes import find_shapes
from orchestrator.redaction.span import Span, merge_spans

KEY_BYTES = 32

_WORTH_REMEMBERING = 1024
_REMEMBERED = 16
_CLEAN_REMEMBERED = 512
"""Short texts without a secret: a call's field names and values pass here some thirty times."""


class Redactor:
    """Replaces secrets by stable placeholders; the same secret by the same one."""

    def __init__(self, known: Mapping[str, str], *, key: bytes | None = None) -> None:
        """``known`` maps names to values; ``key`` makes placeholders the same across processes."""
        self._values = dict(known)
        self._known = KnownValues(known)
        self._ledger = Ledger(secrets.token_bytes(KEY_BYTES) if key is None else key)
        self._recent: dict[str, str] = {}
        self._clean: dict[str, None] = {}

    @property
    def too_short(self) -> tuple[str, ...]:
        """Names of known values under eight characters, which are not redacted: warn of them."""
        return self._known.too_short

    def learn(self, known: Mapping[str, str]) -> None:
        """Know further values from now on; a name that is known already keeps its value."""
        self._values = {**known, **self._values}
        self._known = KnownValues(self._values)
        self._recent.clear()
        self._clean.clear()

    def redact(self, text: str) -> str:
        """Return the text with a placeholder for every secret; all else byte for byte."""
        if text in self._clean:
            return text
        if text in self._recent:
            return self._recent[text]
        spans = self.spans(text)
        safe = self._replace(text, spans, 0, len(text))
        if len(text) >= _WORTH_REMEMBERING:
            self._remember(text, safe)
        elif not spans:
            self._clean[text] = None
            _forget_oldest(self._clean, _CLEAN_REMEMBERED)
        return safe

    def redact_read(self, text: str, path: str) -> str:
        """Return what was read of a file redacted, remembering what stands behind each placeholder.

        Only this lets ``restore`` put a secret back: a placeholder that someone wrote into the
        file stands for itself, so nobody can have a secret delivered to a file of their choice.
        """
        for literal in placeholders_in(text):
            self._ledger.note_read(path, literal, literal)
        spans = self.spans(text)
        for span in spans:
            secret = text[span.start : span.end]
            self._ledger.note_read(path, self._ledger.issue(span.kind, secret), secret)
        return self._replace(text, spans, 0, len(text))

    def redact_between(self, text: str, start: int, end: int, *, slack: int) -> tuple[str, int]:
        """Return a stretch of the text redacted, and where it ended; the rest is only read.

        A secret that crosses ``end`` moves the end back to where the secret starts, unless more
        than ``slack`` characters would then be left over.
        """
        spans = self.spans(text)
        for span in spans:
            if span.start < end < span.end and len(text) - span.start <= slack:
                end = max(start, span.start)
        inside = (replace(span, start=max(span.start, start)) for span in spans)
        return self._replace(
            text, [span for span in inside if start < span.end <= end], start, end
        ), end

    def spans(self, text: str) -> list[Span]:
        """Return where the secrets are, in order and disjoint; placeholders are none."""
        found = merge_spans(self._find(text))
        if not found or "[redacted:" not in text:
            return found
        taken = [match.span() for match in PLACEHOLDER.finditer(text)]
        return [span for span in found if not _overlaps(span, taken)]

    def open_tail(self, text: str) -> int:
        """Return where a known value may begin that the text's end cuts; its length if nowhere."""
        return self._known.open_tail(text)

    def redact_json(self, value: Any) -> Any:
        """Return JSON data with every text in it redacted, keys too, by their field's name too."""
        return self._redact_value(value, "")

    def placeholders_in(self, text: str) -> tuple[str, ...]:
        """Return the placeholders in a text, each once, in order."""
        return placeholders_in(text)

    def restore(self, text: str, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the text with what this file held put back, and the placeholders left over."""
        return self._ledger.restore(text, path)

    def _find(self, text: str) -> Iterable[Span]:
        yield from self._known.find(text)
        yield from find_key_blocks(text)
        yield from find_shapes(text)
        yield from find_assignments(text)
        yield from find_header_secrets(text)
        yield from find_command_line_secrets(text)

    def _remember(self, text: str, safe: str) -> None:
        """Keep a result: one output passes here for the model, the events, the log and the file."""
        self._recent[text] = self._recent[safe] = safe
        _forget_oldest(self._recent, _REMEMBERED)

    def _replace(self, text: str, spans: Iterable[Span], start: int, end: int) -> str:
        pieces: list[str] = []
        done = start
        for span in spans:
            secret = text[span.start : span.end]
            pieces += (text[done : span.start], self._ledger.issue(span.kind, secret))
            done = span.end
        pieces.append(text[done:end])
        return "".join(pieces)

    def _redact_value(self, value: Any, field: str) -> Any:
        if isinstance(value, str):
            return self._redact_field(field, value)
        if isinstance(value, Mapping):
            return {
                self._redact_value(key, ""): self._redact_value(item, str(key))
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._redact_value(item, field) for item in value]
        return value

    def _redact_field(self, field: str, text: str) -> str:
        safe = self.redact(text)
        kind = is_secret_field(field, text) if field and safe == text else None
        return self._ledger.issue(kind, text) if kind else safe


def _overlaps(span: Span, taken: list[tuple[int, int]]) -> bool:
    return any(start < span.end and span.start < end for start, end in taken)


def _forget_oldest(remembered: dict[str, Any], most: int) -> None:
    while len(remembered) > most:
        del remembered[next(iter(remembered))]
