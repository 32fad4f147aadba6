"""Untrusted text for a page: every character visible as itself or named, nothing that acts. Pure."""

from __future__ import annotations

import html
import re

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, what reorders or hides text, tags; joiners and variation selectors stay, for emoji."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]+)\1(?!`)")


def safe(text: str) -> str:
    """Return text as HTML, for content and for quoted attributes."""
    escaped = html.escape(text.replace("\r\n", "\n"), quote=True)
    return _HIDDEN.sub(lambda match: f'<span class="u">U+{ord(match[0]):04X}</span>', escaped)


def plain(text: str) -> str:
    """Return text for an attribute or a title, where no element can stand."""
    named = _HIDDEN.sub(lambda match: f"U+{ord(match[0]):04X}", " ".join(text.split()))
    return html.escape(named, quote=True)


def prose(text: str) -> str:
    """Return what somebody said: fenced blocks and code set apart, all else as it was written."""
    return "".join(
        f"<pre>{safe(piece)}</pre>" if is_code else f'<div class="t">{_spoken(piece)}</div>'
        for piece, is_code in pieces(text)
        if piece.strip("\n")
    )


def _spoken(text: str) -> str:
    return _CODE.sub(r"<code>\2</code>", safe(text.strip("\n")))


def pieces(text: str) -> list[tuple[str, bool]]:
    """Return text in pieces, each with whether it is the inside of a fenced block."""
    found: list[tuple[str, bool]] = []
    lines: list[str] = []
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        closes = (
            bool(fence)
            and line.strip() == fence[0] * len(line.strip())
            and len(line.strip()) >= len(fence)
        )
        if closes:
            found.append(("\n".join(lines), True))
            fence, lines = "", []
        elif mark and not fence:
            # The language stands before its block: words must not hide in it.
            found.append(("\n".join([*lines, *filter(None, [mark[2].strip()])]), False))
            fence, lines = mark[1], []
        else:
            lines.append(line)
    found.append(("\n".join(lines), bool(fence)))
    return found
