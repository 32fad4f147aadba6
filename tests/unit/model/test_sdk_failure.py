import json

import httpx2
import openai
import pytest

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError
from orchestrator.model.sdk_failure import Translator

KEY = Secret("sk-very-secret-value")


def translated(error: Exception) -> ModelError:
    with pytest.raises(ModelError) as caught, Translator(openai, "p/m", KEY).translating():
        raise error
    return caught.value


@pytest.mark.parametrize(
    "error",
    [
        httpx2.RemoteProtocolError("peer closed connection"),
        httpx2.ReadTimeout("slow"),
        httpx2.ConnectError("refused"),
        json.JSONDecodeError("broken", "{", 1),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        openai.APITimeoutError(httpx2.Request("POST", "http://127.0.0.1")),
        openai.APIConnectionError(request=httpx2.Request("POST", "http://127.0.0.1")),
    ],
)
def test_broken_connection_is_a_network_failure(error: Exception) -> None:
    """However it broke, it can be tried again."""
    assert translated(error).kind == "network"


def test_key_is_struck_out_and_the_request_is_not_kept() -> None:
    """Nothing that leaves holds the key."""
    error = translated(httpx2.LocalProtocolError(f"bad header {KEY.reveal()}"))
    assert KEY.reveal() not in error.message
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_our_own_errors_pass() -> None:
    """What is already translated stays what it is."""
    own = ModelError("x", kind="quota")
    with pytest.raises(ModelError) as caught, Translator(openai, "p/m", KEY).translating():
        raise own
    assert caught.value is own


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"message": "a", "code": 400}, "a"),
        ({"error": "b"}, "b"),
        ({"error": {"message": "c"}}, "c"),
        ({"detail": "d"}, "d"),
        ("e", "e"),
        ([], "no reason given"),
    ],
)
def test_words_are_found_in_any_shape(body: object, expected: str) -> None:
    """Servers write errors as they like."""
    request = httpx2.Request("POST", "http://127.0.0.1")
    response = httpx2.Response(400, request=request)
    assert expected in translated(openai.BadRequestError("x", response=response, body=body)).message
