"""Well-known token shapes: searched by their fixed part, judged by their pattern.

Every pattern is an anchor followed by bounded or possessive runs with nothing required after an
unbounded one, so a text full of anchors costs no more than its length times a small constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orchestrator.redaction.shape_table import SHAPES, Shape
from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.values import is_masked

_DOTTED = re.compile(r"[A-Za-z0-9_-]{2,}+(?:\.[A-Za-z0-9_-]++){2,}+")
_JWT_HEADER = re.compile(r"eyJ[A-Za-z0-9_-]{12,}+\Z")
_MIN_SIGNATURE = 8


def find_shapes(text: str) -> Iterator[Span]:
    """Yield every token whose form alone gives it away."""
    for shape in SHAPES:
        yield from _find(shape, text)
    yield from _find_signed_tokens(text)


def _find(shape: Shape, text: str) -> Iterable[Span]:
    at = text.find(shape.anchor)
    while at >= 0:
        match = shape.pattern.match(text, max(0, at - shape.back))
        end = at + 1
        if match is not None:
            start, end = match.span("secret" if "secret" in shape.pattern.groupindex else 0)
            if not _is_sample(match[0], shape):
                yield Span(start, end, shape.kind, Certainty.SHAPE)
        at = text.find(shape.anchor, max(end, at + 1))


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
