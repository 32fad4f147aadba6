"""Keeping what is told inside the marks that say it is data. Pure."""

from __future__ import annotations

import re

_MARK = re.compile(
    r"[<\uff1c\ufe64](?=\s*/?\s*(?:conversation|previous-summary|summary|read-files|modified-files)\b)",
    re.IGNORECASE,
)


def held(text: str) -> str:
    """Return the text with nothing in it that looks like a mark; told twice, it is the same."""
    return _MARK.sub("&lt;", text)


def on_one_line(text: str) -> str:
    """Return the text, a path say, so that it adds no line of its own."""
    return held(re.sub(r"\s+", " ", text).strip())
