"""How many tokens a text has, about, by the kinds of its characters. Pure.

A tokenizer makes few tokens of words and many of digits, signs and rare scripts, so one rate for all
would tell a Chinese file or a base64 block at a quarter of its size. The rates lie near the highest
of three real tokenizers (o200k and cl100k as in the npm package gpt-tokenizer, and Anthropic's as in
@anthropic-ai/tokenizer), counted over the texts of tests/cases/token-counts.json. OpenAI and Google
name four characters of English a token, Anthropic three and a half.
"""

from __future__ import annotations

import re

_HUNDREDTH = 100
_LETTERS, _DIGITS, _SIGNS, _SPACE, _LINE_END = 25, 50, 75, 10, 60
_DENSE = 70
"""Of each character of base64 or hex."""
_CYRILLIC, _TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 50, 100, 125, 250
"""Of each character, by its length in UTF-8: Greek, Arabic and accents; Chinese, Thai, drawn lines;
emoji."""

_RUN = re.compile(rb"[A-Za-z0-9+/=_-]{32,}")
_DIGITS_OF_A_RUN = 16
"""A long run is base64 or hex, and no name or path, where one character in so many is a digit."""


def _all_but(*ranges: tuple[int, int]) -> bytes:
    kept = {code for low, high in ranges for code in range(low, high + 1)}
    return bytes(code for code in range(256) if code not in kept)


_NO_DIGIT = _all_but((0x30, 0x39))
_KINDS = (
    (_all_but((0x41, 0x5A), (0x61, 0x7A)), _LETTERS),
    (_NO_DIGIT, _DIGITS),
    (_all_but((0, 8), (14, 31), (33, 47), (58, 64), (91, 96), (123, 127)), _SIGNS),
    (_all_but((32, 32)), _SPACE),
    (_all_but((9, 13)), _LINE_END),
    # By the first byte of a character; the bytes that follow it are counted nowhere.
    (_all_but((0xD0, 0xD4)), _CYRILLIC),
    (_all_but((0xC0, 0xCF), (0xD5, 0xDF)), _TWO_BYTES),
    (_all_but((0xE0, 0xEF)), _THREE_BYTES),
    (_all_but((0xF0, 0xFF)), _FOUR_BYTES),
)


def text_tokens(text: str) -> int:
    """Return about how many tokens a text has, rounded up; rather too many than too few."""
    data = text.encode("utf-8", "surrogatepass")
    dense = sum(len(run) for run in _RUN.findall(data) if _is_dense(run))
    if dense:
        data = _RUN.sub(lambda found: b"" if _is_dense(found[0]) else found[0], data)
    hundredths = dense * _DENSE + sum(
        len(data.translate(None, others)) * rate for others, rate in _KINDS
    )
    return -(-hundredths // _HUNDREDTH)


def _is_dense(run: bytes) -> bool:
    return len(run.translate(None, _NO_DIGIT)) * _DIGITS_OF_A_RUN > len(run)
