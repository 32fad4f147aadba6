"""A long text without its middle: head and tail stay, since an end often says how to go on. Pure."""

from __future__ import annotations


def without_middle(text: str, most: int, gap: str, **facts: int) -> str:
    """Return at most ``most`` characters of a text around a line that tells of the rest.

    ``gap`` is that line: a format with ``count``, the characters left out, and with ``facts``.
    """
    half = most // 2
    line = gap.format(count=len(text) - 2 * half, **facts)
    return f"{text[:half]}\n{line}\n{text[len(text) - half :]}"
