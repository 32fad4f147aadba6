from orchestrator.model.openai_usage import usage_from
from orchestrator.schema.message import Usage

SIDE = ("prompt_tokens", "completion_tokens")


def test_cached_tokens_are_taken_out_of_input() -> None:
    """OpenAI counts them into the prompt; we count each token once."""
    data = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    }
    assert usage_from(data, side=SIDE) == Usage(10, 9, 60, 30)


def test_missing_or_odd_counts_are_zero() -> None:
    """Servers leave out what they do not know."""
    assert usage_from(None, side=SIDE) == Usage()
    assert usage_from({"prompt_tokens": 5, "prompt_tokens_details": None}, side=SIDE) == Usage(5)
    odd = {"prompt_tokens": "5", "prompt_tokens_details": {"cached_tokens": 9}}
    assert usage_from(odd, side=SIDE) == Usage(0, 0, 9)
