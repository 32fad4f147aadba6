import pytest
from docker.errors import APIError, DockerException, NotFound
from urllib3.exceptions import ProtocolError

from orchestrator.engine.failure import plain_cause, translated
from orchestrator.errors import EngineError, EngineUnavailable, PolicyError


class Response:
    """As much of an HTTP response as the SDK's exceptions read."""

    url = "http+docker://localhost/x"
    reason = "Conflict"

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


def test_refusal_tells_place_status_and_reason():
    """What the engine answered is quoted after what was tried."""
    refusal = APIError("409", response=Response(409), explanation="name is taken")

    with pytest.raises(EngineError) as caught, translated("create container x"):
        raise refusal

    assert str(caught.value) == ("create container x: the engine refused (HTTP 409: name is taken)")
    assert not isinstance(caught.value, EngineUnavailable)


@pytest.mark.parametrize(
    "silence", [BrokenPipeError(32, "Broken pipe"), ProtocolError("gone"), TimeoutError("late")]
)
def test_silence_is_unavailability(silence: Exception):
    """An engine that does not answer is unavailable, and the doctor is named."""
    with pytest.raises(EngineUnavailable, match="read stream") as caught, translated("read stream"):
        raise silence

    assert "doctor" in caught.value.hint


@pytest.mark.parametrize("nonsense", [DockerException("odd"), ValueError("no JSON")])
def test_nonsense_is_an_engine_error(nonsense: Exception):
    """An answer that cannot be read is the engine's fault."""
    with pytest.raises(EngineError, match="inspect: "), translated("inspect"):
        raise nonsense


def test_missing_thing_can_be_caught_inside():
    """The SDK's own classes keep their meaning within the block."""
    missing = NotFound("404", response=Response(404), explanation="no x")

    with translated("remove x"), pytest.raises(NotFound) as caught:
        raise missing

    assert caught.value is missing


def test_our_own_errors_pass_unchanged():
    """Only foreign exceptions are translated."""
    own = PolicyError("policies/x.yaml:1: bad")

    with pytest.raises(PolicyError) as caught, translated("anything"):
        raise own

    assert caught.value is own


def test_programming_errors_stay_bugs():
    """A bug of ours is not blamed on the engine."""
    with pytest.raises(KeyError), translated("anything"):
        raise KeyError("name")


def test_cause_is_found_beneath_wrappers():
    """The operating system's words win over the wrappers around them."""
    inner = ConnectionRefusedError(111, "Connection refused")
    wrapped = DockerException(ProtocolError("Connection aborted.", inner))

    assert plain_cause(wrapped) == "connection refused"


def test_cause_without_system_error_is_its_text():
    """Without a system error the message itself has to do."""
    assert plain_cause(DockerException("odd")) == "odd"


def test_circular_causes_end():
    """Exceptions that point at each other are walked once."""
    first, second = DockerException("first"), DockerException("second")
    first.__cause__, second.__cause__ = second, first

    assert plain_cause(first) == "first"
