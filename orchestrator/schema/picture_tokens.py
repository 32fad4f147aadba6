"""How many tokens a picture has, by each vendor's own rule. Pure.

Where a vendor's models differ, the rule that gives more is taken: a request is then compacted
somewhat early, never sent too long. A picture whose size cannot be told counts as the largest that
the tools give.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

from orchestrator.schema.message import Image
from orchestrator.schema.picture_size import pixels

PictureRule = Literal["anthropic", "openai", "openai-small", "gemini", "unseen", "unknown"]
"""Whose rule holds. ``openai-small`` is of gpt-4o-mini, which takes many times as much;
``unseen``: the model is told in words that there is a picture."""

LARGEST = (1568, 1568)
"""Pixels of the largest picture that the read tool gives."""
UNSEEN = 20
"""Tokens of the words in a picture's place."""


def picture_tokens(image: Image, rule: PictureRule = "unknown") -> int:
    """Return the tokens of one picture."""
    if rule == "unseen":
        return UNSEEN
    width, height = pixels(image) or LARGEST
    match rule:
        case "anthropic":
            return _anthropic(width, height)
        case "openai":
            return _openai(width, height)
        case "openai-small":
            return _tiles(width, height, first=2_833, each=5_667)
        case "gemini":
            return _gemini(width, height)
        case "unknown":
            return max(_anthropic(width, height), _openai(width, height), _gemini(width, height))


def _anthropic(width: int, height: int) -> int:
    """Width x height / 750, at most 4,784 (platform.claude.com/docs: build-with-claude/vision)."""
    return min(ceil(width * height / 750), 4_784)


def _openai(width: int, height: int) -> int:
    """Tiles or patches (platform.openai.com/docs: guides/images-vision), whichever is more.

    Patches are 32 pixels wide: up to 1,536 at 1.62 tokens (mini models), or up to 2,500 at one.
    """
    patches = ceil(width / 32) * ceil(height / 32)
    by_patches = max(ceil(min(patches, 1_536) * 1.62), min(patches, 2_500))
    return max(_tiles(width, height, first=85, each=170), by_patches)


def _tiles(width: int, height: int, *, first: int, each: int) -> int:
    """Of 512 pixels, once the picture fits 2,048 and its shorter edge 768."""
    scale = min(1.0, 2_048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return first + each * ceil(width * scale / 512) * ceil(height * scale / 512)


def _gemini(width: int, height: int) -> int:
    """258 a tile of 768 pixels (ai.google.dev/gemini-api/docs/tokens); from Gemini 3 on 1,120."""
    unit = max(256, min(768, int(min(width, height) / 1.5)))
    return max(1_120, 258 * ceil(width / unit) * ceil(height / unit))
