"""Counts of four APIs."""

import pytest

from orchestrator.egress.endpoint.usage import counts_in, merge_counts, usage_of
from orchestrator.schema.message import Usage


@pytest.mark.parametrize(
    ("shape", "data", "expected"),
    [
        (
            "anthropic",
            {
                "usage": {
                    "input_tokens": 5,
                    "output_tokens": 6,
                    "cache_read_input_tokens": 7,
                    "cache_creation_input_tokens": 8,
                }
            },
            Usage(5, 6, 7, 8),
        ),
        ("anthropic", {"message": {"usage": {"input_tokens": 5}}}, Usage(5)),
        ("anthropic", {"input_tokens": 9}, Usage(9)),
        (
            "openai",
            {
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 4},
                }
            },
            Usage(6, 2, 4),
        ),
        (
            "openai",
            {
                "response": {
                    "usage": {
                        "input_tokens": 10,
                        "output_tokens": 2,
                        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
                    }
                }
            },
            Usage(5, 2, 4, 1),
        ),
        ("openai", {"usage": {"prompt_tokens": 3, "total_tokens": 3}}, Usage(3)),
        (
            "gemini",
            {
                "usageMetadata": {
                    "promptTokenCount": 10,
                    "candidatesTokenCount": 2,
                    "thoughtsTokenCount": 3,
                    "cachedContentTokenCount": 4,
                }
            },
            Usage(6, 5, 4),
        ),
    ],
)
def test_counts_have_one_form(shape, data, expected):
    """Input leaves out what came from a cache."""
    counts = counts_in(data, shape)

    assert counts is not None
    assert usage_of(counts, shape) == expected


@pytest.mark.parametrize("shape", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("data", [None, [], {}, {"usage": None}, {"usage": 5}])
def test_nothing_reported_is_nothing(shape, data):
    """No count is not a count of zero."""
    assert counts_in(data, shape) is None


def test_later_counts_stand_over_earlier_ones():
    """Anthropic tells the input first, the output last."""
    merged = merge_counts(
        {"input_tokens": 5, "output_tokens": 1}, {"output_tokens": 9, "input_tokens": None}
    )

    assert usage_of(merged, "anthropic") == Usage(5, 9)


def test_counts_that_are_no_numbers_are_zero():
    """A provider's mistake breaks nothing."""
    assert usage_of({"input_tokens": "many", "output_tokens": -4}, "anthropic") == Usage()
