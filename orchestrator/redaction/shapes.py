"""Well-known token shapes: searched by their fixed part, judged by their pattern.

Every pattern is an anchor followed by bounded or possessive runs with nothing required after an
unbounded one, so a text full of anchors costs no more than its length times a small constant.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from orchestrator.redaction.shape_table import SHAPES, Shape
from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.values import is_masked

_LONG_RUN = re.compile(r"[A-Za-z0-9_~.%:/+=@-]{20,}+")
"""Every shape is at least so long, and has no other characters."""
_DOTTED = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{2,}+(?:\.[A-Za-z0-9_-]++){2,}+")
_JWT_HEADER = re.compile(r"eyJ[A-Za-z0-9_-]{12,}+\Z")
_MIN_SIGNATURE = 8


def find_shapes(text: str) -> Iterator[Span]:
    """Yield every token whose form alone gives it away."""
    runs = _LONG_RUN.findall(text)
    if not runs:
        return
    starts = array("q", (run.start() for run in _LONG_RUN.finditer(text)))
    # Anchors are searched in the long runs only, joined: most text has none.
    joined = "\n".join(runs)
    offsets = array("q", accumulate((len(run) + 1 for run in runs), initial=0))
    for shape in SHAPES:
        at = joined.find(shape.anchor)
        while at >= 0:
            run = bisect_right(offsets, at) - 1
            shift = starts[run] - offsets[run]
            span, end = _token_at(text, shape, at + shift)
            if span is not None:
                yield span
            at = joined.find(shape.anchor, max(end - shift, at + 1))
    yield from _find_signed_tokens(text)


def _token_at(text: str, shape: Shape, at: int) -> tuple[Span | None, int]:
    """Return the token whose anchor stands at a place, and where to go on."""
    match = shape.pattern.match(text, max(0, at - shape.back))
    if match is None:
        return None, at + 1
    span = Span(*match.span("secret" if match.re.groups else 0), shape.kind, Certainty.SHAPE)
    return (None if _is_sample(match[0], shape) else span), match.end()


def _is_sample(token: str, shape: Shape) -> bool:
    """Documentation's keys are no secrets: one letter repeated, or EXAMPLE at the end."""
    body = token[len(shape.anchor) :] if not shape.back else token
    return is_masked(body) or body.endswith(("EXAMPLE", "EXAMPLEKEY"))


def _find_signed_tokens(text: str) -> Iterator[Span]:
    """Yield JSON web tokens: two parts that begin like JSON in base64, and a signature."""
    if "eyJ" not in text:
        return
    for run in _DOTTED.finditer(text):
        parts = run[0].split(".")
        offset = run.start()
        for first, second, third in zip(parts, parts[1:], parts[2:], strict=False):
            at = first.find("eyJ")
            signed = second.startswith("eyJ") or len(second) >= _MIN_SIGNATURE
            if at >= 0 and _JWT_HEADER.match(first, at) and signed:
                length = len(first) + len(second) + len(third) + 2
                yield Span(offset + at, offset + length, "jwt", Certainty.SHAPE)
            offset += len(first) + 1
