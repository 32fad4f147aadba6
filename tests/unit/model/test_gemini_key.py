"""Trying a Gemini key."""

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.model.gemini_key import count_models
from orchestrator.model.sdk import check_key
from tests.support.model_contract import KEY, target_of
from tests.support.model_server import Reply, serving


def test_key_is_tried_with_one_get() -> None:
    """In the header that the API has for it; a version in the address is not doubled."""
    with serving(Reply(body={"models": [{"name": "models/a"}, {"name": "models/b"}]})) as server:
        assert anyio.run(check_key, target_of("gemini", server.address), KEY) == 2
        (asked,) = server.asked
    assert asked.path == "/v1beta/models?pageSize=1000"
    assert asked.headers["x-goog-api-key"] == KEY.reveal()


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(400, {}, {"error": {"message": "API key not valid.", "status": "X"}}), "auth"),
        (Reply(503, {}, b"busy"), "overloaded"),
        (Reply(302, {"location": "http://127.0.0.1:1/"}, {}), "bad_request"),
    ],
)
def test_refusal_is_told_by_its_kind(reply: Reply, kind: str) -> None:
    """And never with the key."""
    with serving(reply) as server, pytest.raises(ModelError) as caught:
        anyio.run(count_models, target_of("gemini", server.address), KEY)
    assert caught.value.kind == kind
    assert KEY.reveal() not in str(caught.value)


def test_server_that_is_not_there_is_told() -> None:
    """As any provider that cannot be reached."""
    with pytest.raises(ModelError) as caught:
        anyio.run(count_models, target_of("gemini", "http://127.0.0.1:1"), KEY)
    assert caught.value.kind == "network"


def test_answer_without_a_list_says_nothing_of_the_key() -> None:
    """Any web server answers 200."""
    with serving(Reply(body=[1])) as server, pytest.raises(ModelError, match=r"got '\[1\]'"):
        anyio.run(count_models, target_of("gemini", server.address), KEY)
