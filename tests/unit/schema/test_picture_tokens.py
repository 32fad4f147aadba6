"""The vendors' own examples, and what nobody can tell."""

import base64

import pytest

from orchestrator.schema.message import Image
from orchestrator.schema.picture_tokens import LARGEST, UNSEEN, picture_tokens


def picture(width, height):
    head = b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return Image("image/gif", base64.b64encode(head).decode())


@pytest.mark.parametrize(
    ("rule", "size", "tokens"),
    [
        ("anthropic", (200, 200), 54),
        ("anthropic", (1000, 1000), 1334),
        ("anthropic", (1092, 1092), 1590),
        ("anthropic", (2576, 2576), 4784),
        ("openai", (512, 512), 415),
        ("openai", (1024, 1024), 1659),
        ("openai", (1800, 2400), 2500),
        ("openai", (10, 3000), 765),
        ("openai-small", (512, 512), 2833 + 5667),
        ("openai-small", (2048, 4096), 2833 + 6 * 5667),
        ("gemini", (300, 300), 1120),
        ("gemini", (1500, 3000), 258 * 2 * 4),
        ("unseen", (1000, 1000), UNSEEN),
    ],
)
def test_picture_has_what_its_vendor_says(rule, size, tokens):
    """Where models of one vendor differ, the one that takes more counts."""
    assert picture_tokens(picture(*size), rule) == tokens


def test_unknown_rule_is_the_highest_but_one_models():
    rules = ("anthropic", "openai", "gemini")
    shown = picture(800, 600)

    assert picture_tokens(shown) == max(picture_tokens(shown, rule) for rule in rules)


def test_picture_without_a_size_is_the_largest_there_is():
    assert picture_tokens(Image("image/png", "?"), "anthropic") == picture_tokens(
        picture(*LARGEST), "anthropic"
    )
