from datetime import UTC, datetime

import pytest

from orchestrator.model.errors import (
    MAX_DATE_WAIT_S,
    MAX_MESSAGE,
    Failure,
    broken_stream,
    classify,
    model_error,
    retry_after,
)

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)

OVERFLOWS = [
    Failure(400, code="context_length_exceeded", message="something"),
    Failure(400, message="prompt is too long: 213462 tokens > 200000 maximum"),
    Failure(400, message="input length and `max_tokens` exceed context limit: 190000 + 21000"),
    Failure(400, message="This model's maximum context length is 4096 tokens. However, you requested 5000"),
    Failure(400, message="the request exceeds the available context size (8,192 tokens)"),
    Failure(400, message="request (9,000 tokens) exceeds the configured context size of 8,192"),
    Failure(400, type="exceed_context_size_error", message="the request is big"),
    Failure(400, message="Your input exceeds the context window of this model."),
    Failure(400, message="The input token count (1200000) exceeds the maximum number of tokens allowed"),
    Failure(400, message="This model's maximum prompt length is 131072 but the request contains 537812 tokens"),
    Failure(400, message="Please reduce the length of the messages or completion."),
    Failure(400, message="Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    Failure(400, message="Your request exceeded model token limit: 262144"),
    Failure(400, message="prompt token count of 70000 exceeds the limit of 64000"),
    Failure(500, message="the number of tokens to keep from the initial prompt is greater than the context length"),
    Failure(413, message="prompt is too long for the context window"),
]  # fmt: skip

NOT_OVERFLOWS = [
    (Failure(429, message="Too many tokens, please wait before trying again."), "rate_limit"),
    (Failure(400, message="ThrottlingException: too many tokens, try again later"), "rate_limit"),
    (Failure(429, message="Request too large for model on tokens per min (TPM): limit 6000"), "rate_limit"),
    (Failure(413, message="Request exceeds the maximum size of 32 MB"), "too_large"),
    (Failure(413, type="request_too_large", message="input is too large: 40000000 bytes"), "too_large"),
    (Failure(413, message="Request Entity Too Large"), "too_large"),
    (Failure(413), "too_large"),
    (Failure(400, message="input length of 33554432 bytes is too large"), "bad_request"),
    (Failure(400, type="invalid_request_error",
             message="messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"), "too_large"),
    (Failure(400, message="At least one of the image dimensions exceed max allowed size for many-image "
             "requests: 2000 pixels"), "too_large"),
    (Failure(400, message="Too many images in request: at most 20"), "too_large"),
    (Failure(400, message="Could not process image"), "too_large"),
    (Failure(404, message="No endpoints found that support image input"), "too_large"),
    (Failure(500, "server_error", message="image input is not supported - hint: if this is "
             "unexpected, you may need to provide the mmproj"), "too_large"),
    (Failure(500, "api_error", message="this model is missing data required for image input"),
     "too_large"),
    (Failure(400, message="Image input is not enabled for this model"), "too_large"),
    (Failure(400, "BadRequestError", message="llama-3 is not a multimodal model"), "too_large"),
    (Failure(400, "invalid_request_error", message="messages[1]: unknown variant `image_url`, "
             "expected `text`"), "too_large"),
    (Failure(500, "server_error", message="failed to load the image encoder"), "server"),
    (Failure(429, message="Too many images: rate limit, slow down"), "rate_limit"),
    (Failure(429, code="rate_limit_exceeded",
             message="Rate limit reached. Add a payment method at /account/billing"), "rate_limit"),
    (Failure(429, code="insufficient_quota", message="You exceeded your current quota"), "quota"),
    (Failure(402, message="Insufficient Balance"), "quota"),
    (Failure(400, message="Your credit balance is too low to access the API"), "quota"),
    (Failure(403, message="billing hard limit reached"), "quota"),
    (Failure(401, message="invalid x-api-key"), "auth"),
    (Failure(400, message="tools.0.name: String should match pattern"), "bad_request"),
    (Failure(400, message="temperature: must be at most 1"), "bad_request"),
    (Failure(529, type="overloaded_error", message="Overloaded"), "overloaded"),
    (Failure(503, message="Loading model"), "overloaded"),
    (Failure(500, message="internal"), "server"),
    (Failure(504), "server"),
    (Failure(408), "server"),
    (Failure(200, type="overloaded_error"), "overloaded"),
    (Failure(200, message="strange"), "server"),
    (Failure(200, code="invalid_prompt", message="not allowed"), "bad_request"),
    (Failure(None, message="gone"), "network"),
]  # fmt: skip


@pytest.mark.parametrize("failure", OVERFLOWS)
def test_overflow_is_known_in_every_vendors_words(failure: Failure) -> None:
    """A conversation that is too long is told from any other fault."""
    assert classify(failure) == "overflow"


@pytest.mark.parametrize(("failure", "kind"), NOT_OVERFLOWS)
def test_other_failures_are_never_an_overflow(failure: Failure, kind: str) -> None:
    """A rate limit is waited for, an empty purse is not, and neither shortens the conversation."""
    assert classify(failure) == kind


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "17"}, 17.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1e9"}, 1e9),
        ({"retry-after": "1.5E+02"}, 150.0),
        ({"retry-after": "1e-9"}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2037 11:00:00 GMT"}, MAX_DATE_WAIT_S),
        ({"retry-after": "Mon, 30 Nov 1999 10:00:20 GMT", "date": "Mon, 30 Nov 1999 10:00:00 GMT"}, 20.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "NaN"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_wait_is_read_and_bounded(headers: dict[str, str], expected: float | None) -> None:
    """Neither a wrong clock nor a wild header makes the wait negative or endless."""
    assert retry_after(headers, NOW) == expected


def test_error_says_model_kind_status_and_words() -> None:
    """A message gives place and what the provider said, on one line and cut."""
    error = model_error("a/b", Failure(500, message="line one\nline two " + "x" * 9_000))
    assert error.message.startswith("a/b: server 500: line one line two")
    assert len(error.message) < MAX_MESSAGE + 100


def test_error_without_words_still_says_something() -> None:
    """An empty body is not an empty message."""
    assert "no reason given" in model_error("a/b", Failure(500)).message
    assert "asks to wait 30 s" in model_error("a/b", Failure(429, retry_after_s=30)).message


def test_broken_stream_can_be_tried_again() -> None:
    """A stream that broke is a network failure."""
    assert broken_stream("a/b", "why").retryable
