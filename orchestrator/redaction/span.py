"""A stretch of text that holds a secret, and how overlapping finds become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum


class Certainty(IntEnum):
    """How a secret was recognised; where finds overlap, the surer one names it."""

    KNOWN = 0
    SHAPE = 1
    CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range; ``kind`` is the word in its placeholder."""

    start: int
    end: int
    kind: str
    certainty: Certainty


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return disjoint spans in order that together cover all of the given ones."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.certainty)):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            continue
        before = merged[-1]
        surer = min(before, span, key=lambda one: one.certainty)
        merged[-1] = replace(surer, start=before.start, end=max(before.end, span.end))
    return merged
