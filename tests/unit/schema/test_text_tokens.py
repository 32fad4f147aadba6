"""How many tokens a text has, about: held to real tokenizers."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.text_tokens import text_tokens

COUNTED = Path(__file__).parents[2] / "cases" / "token-counts.json"
CASES = json.loads(COUNTED.read_text("utf-8"))["texts"]
TOKENIZERS = ("o200k", "cl100k", "claude")


@pytest.mark.parametrize("name", CASES)
def test_no_kind_of_text_is_told_below_half_of_what_it_has(name):
    """By the tokenizer that makes most of it, and never above twice that."""
    case = CASES[name]
    most = max(case[tokenizer] for tokenizer in TOKENIZERS)

    assert most / 2 < text_tokens(case["text"]) < most * 2


@given(st.lists(st.tuples(st.sampled_from(sorted(CASES)), st.integers(1, 8)), max_size=12))
def test_mixed_texts_are_told_like_their_parts(parts):
    """Whatever stands beside what: a file of many scripts, a log with base64 in it."""
    text = "\n".join(CASES[name]["text"] for name, times in parts for _ in range(times))
    real = sum(max(CASES[name][t] for t in TOKENIZERS) * times for name, times in parts)

    assert real / 2 <= text_tokens(text) <= real * 2 + len(parts) * 8


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text, more):
    """Also where two pieces make one long run together, up to what rounding and runs change."""
    assert text_tokens(text + more) * 2 >= text_tokens(text) + text_tokens(more) - 2


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("x", 1), ("x" * 400, 100), ("\ud800", 2)])
def test_plain_words_have_a_token_every_four_letters(text, tokens):
    """Half a character, which a file may hold, is counted too."""
    assert text_tokens(text) == tokens
