"""Finding what was said in sessions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from orchestrator.errors import UsageError
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.entry_text import role_of, texts_of

AROUND = 60
"""Characters shown on either side of what was found."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry in which a query was found."""

    entry: Entry
    role: str
    excerpt: str
    """The text around the first find, on one line; raw."""


@dataclass(frozen=True, slots=True)
class Query:
    """Words that must all occur in one entry, or one pattern."""

    patterns: tuple[re.Pattern[str], ...]
    role: str | None = None
    """Only what was said by this one: ``user``, ``assistant``, ``tool`` or an entry's type."""

    @classmethod
    def of(cls, text: str, *, regex: bool = False, role: str | None = None) -> Self:
        """Read a query, of any case; UsageError for an empty one or no regular expression."""
        words = [text] if regex else [re.escape(word) for word in text.split()]
        if not text.strip():
            raise UsageError("search: expected words, got none", hint="sessions search 'two words'")
        try:
            patterns = tuple(re.compile(word, re.IGNORECASE) for word in words)
        except re.error as error:
            raise UsageError(f"search --regex {text!r}: {error}") from error
        return cls(patterns, role)

    def find(self, entries: Iterable[Entry]) -> Iterator[Hit]:
        """Yield the entries that match, in their order."""
        for entry in entries:
            role = role_of(entry)
            if self.role in {None, role}:
                hit = self._hit(entry, role)
                if hit is not None:
                    yield hit

    def _hit(self, entry: Entry, role: str) -> Hit | None:
        text = "\n".join(texts_of(entry))
        found = [pattern.search(text) for pattern in self.patterns]
        first = found[0]
        if first is None or not all(found):
            return None
        return Hit(entry, role, _excerpt(text, first.start(), first.end()))


def _excerpt(text: str, start: int, end: int) -> str:
    end = min(end, start + 2 * AROUND)
    left, right = max(0, start - AROUND), min(len(text), end + AROUND)
    middle = " ".join(text[left:right].split())
    return f"{'…' if left else ''}{middle}{'…' if right < len(text) else ''}"
