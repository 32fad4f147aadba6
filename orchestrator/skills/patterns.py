"""Trigger patterns: regular expressions that cannot run away.

A project's skill is text of others, and an expression with nested or many repeats can hold a process
for hours. So a pattern has few repeats, none of a group and none that looks back; each reaches
``REACH`` characters at most.
"""

from __future__ import annotations

import re

REACH = 80
"""Characters that ``*`` and ``+`` may take in."""
MAX_REPEATS = 2
MAX_OPTIONAL = 4
MAX_LENGTH = 200
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<look>\(\?(?!:))|(?P<group>\(\?:|\()|(?P<close>\))"
    r"|(?P<repeat>[*+]\??|\{[0-9, ]*\}\??)|(?P<maybe>\?\??)|[^\\]",
    re.DOTALL,
)


def compile_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern, blind to case; ValueError in words for one that is broken or could run away."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"expected at most {MAX_LENGTH} characters, got {len(text)}")
    pieces: list[str] = []
    repeats = optional = at = 0
    after_group = False
    for token in _TOKEN.finditer(text):
        if token.start() != at:
            break
        at, word = token.end(), token[0]
        if token["look"]:
            raise ValueError("(?…) is not for triggers; (?:…) groups")
        if re.fullmatch(r"\\[1-9]", word):
            raise ValueError("a reference to a group is not for triggers")
        if token["repeat"]:
            repeats += 1
            if after_group:
                raise ValueError("a repeated group is not for triggers")
            word = _bounded(word)
        elif token["maybe"]:
            optional += 1
        after_group = token["close"] is not None
        pieces.append(word)
    if repeats > MAX_REPEATS:
        raise ValueError(f"expected at most {MAX_REPEATS} repeats (* + {{}}), got {repeats}")
    if optional > MAX_OPTIONAL:
        raise ValueError(f"expected at most {MAX_OPTIONAL} question marks, got {optional}")
    try:
        return re.compile("".join(pieces) + text[at:], re.IGNORECASE)
    except re.error as err:
        raise ValueError(f"not a regular expression: {err}") from err


def _bounded(word: str) -> str:
    lazy = "?" if word.endswith("?") else ""
    if word[0] in "*+":
        return f"{{{int(word[0] == '+')},{REACH}}}{lazy}"
    low, comma, high = word.rstrip("?")[1:-1].replace(" ", "").partition(",")
    least = int(low or 0)
    most = (int(high) if high else REACH) if comma else least
    if max(least, most) > REACH:
        raise ValueError(f"expected a repeat of at most {REACH}, got {word}")
    return f"{{{least},{most}}}{lazy}"
