"""Failures as Google writes them, through its own SDK."""

from typing import Any

import anyio
import pytest

from orchestrator.errors import ModelError
from tests.support.model_contract import KEY, adapter, ask, asking
from tests.support.model_server import Reply, serving

QUOTA = "You exceeded your current quota, please check your plan and billing details."
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}


def limit(name: str) -> dict[str, Any]:
    violations = [{"quotaId": name, "quotaMetric": "m"}]
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}


def failure(status: int, word: str, message: str, *details: Any) -> ModelError:
    error = {"code": status, "status": word, "message": message, "details": list(details)}

    async def scene(address: str) -> None:
        async with adapter("gemini", address) as client:
            await ask(client, asking("hello"))

    reply = Reply(status, body={"error": error})
    with serving(reply) as server, pytest.raises(ModelError) as caught:
        anyio.run(scene, server.address)
    assert len(server.asked) == 1
    return caught.value


def test_limit_of_a_minute_is_waited_for_though_it_speaks_of_a_quota():
    """The details tell what the words do not."""
    error = failure(429, "RESOURCE_EXHAUSTED", QUOTA, limit("RequestsPerMinutePerProject"), RETRY)
    assert (error.kind, error.retry_after_s) == ("rate_limit", 17.5)


def test_wait_of_no_time_is_one():
    """Zero is what the server asks for, not nothing."""
    retry = {**RETRY, "retryDelay": "0s"}
    error = failure(429, "RESOURCE_EXHAUSTED", "slow down", retry)
    assert error.retry_after_s == 0


def test_header_of_no_time_wins_over_the_details():
    """As every header does."""
    with serving(
        Reply(429, {"retry-after": "0"}, {"error": {"code": 429, "details": [RETRY]}})
    ) as server:

        async def scene() -> None:
            async with adapter("gemini", server.address) as client:
                await ask(client, asking("hello"))

        with pytest.raises(ModelError) as caught:
            anyio.run(scene)
    assert caught.value.retry_after_s == 0


def test_limit_of_a_day_is_no_matter_of_waiting():
    """Six tries would change nothing."""
    error = failure(429, "RESOURCE_EXHAUSTED", QUOTA, limit("RequestsPerDayPerProject"), RETRY)
    assert error.kind == "quota"


def test_quota_without_details_is_an_empty_purse():
    """As the words say."""
    assert failure(429, "RESOURCE_EXHAUSTED", QUOTA).kind == "quota"
    assert failure(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted").kind == "rate_limit"


def test_wrong_key_is_no_bad_request():
    """Google calls it an invalid argument."""
    error = failure(400, "INVALID_ARGUMENT", f"API key not valid: {KEY.reveal()}")
    assert error.kind == "auth"
    assert KEY.reveal() not in error.message


def test_prompt_that_is_too_long_is_an_overflow():
    """In Google's own words."""
    words = (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    )
    assert failure(400, "INVALID_ARGUMENT", words).kind == "overflow"


@pytest.mark.parametrize("details", [["x"], [{"violations": "x"}], [{"retryDelay": "soon"}]])
def test_details_of_another_form_are_passed_over(details):
    """A server that stands in for Google's may write anything."""
    assert failure(503, "UNAVAILABLE", "busy", *details).kind == "overloaded"
