"""Words for an end that nobody foresaw."""

import pytest

from orchestrator.errors import ModelError
from orchestrator.model.stops import MOST_OF_WORD, ended, fills_window

KNOWN = {"stop": "end_turn", "MAX_TOKENS": "max_tokens"}


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("done", "end_turn"),
        ("eos_token", "end_turn"),
        ("complete", "end_turn"),
        ("bored", "end_turn"),
        ("tool_use", "tool_use"),
        ("function_calls", "tool_use"),
        ("max_new_tokens", "max_tokens"),
        ("token_limit_reached", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("truncated", "max_tokens"),
        ("safety", "refusal"),
        ("guardrail_intervened", "refusal"),
        ("IMAGE_PROHIBITED_CONTENT", "refusal"),
    ],
)
def test_unknown_word_is_read_by_its_parts(word: str, stop: str) -> None:
    """And kept: what it was taken for is a guess."""
    assert ended(word, KNOWN, model="a/b") == (stop, word)  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["Stop", "STOP", "max_tokens"])
def test_known_word_in_other_letters_is_known(word: str) -> None:
    assert ended(word, KNOWN, model="a/b")[1] == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("internal_error", "server"),
        ("aborted", "server"),
        ("TOO_MANY_TOOL_CALLS", "server"),
        ("other", "server"),
        ("rate_limit_error", "rate_limit"),
    ],
)
def test_word_of_failure_is_no_end(word: str, kind: str) -> None:
    """It is asked for once more, not six times."""
    with pytest.raises(ModelError, match=word) as caught:
        ended(word, KNOWN, model="a/b")  # type: ignore[arg-type]
    assert (caught.value.kind, caught.value.tries) == (kind, 2)


def test_no_word_is_kept_whole_that_fills_the_screen() -> None:
    assert len(ended("x" * 9_000, KNOWN, model="a/b")[1]) == MOST_OF_WORD  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "is_full"),
    [
        ("model_context_window_exceeded", True),
        ("context_length_exceeded", True),
        ("max_new_tokens", False),
        ("context_filter", False),
        ("", False),
    ],
)
def test_full_window_is_told_from_the_output_limit(word: str, is_full: bool) -> None:
    assert fills_window(word) == is_full
