"""What programs in the box are told."""

from orchestrator.harness.box_models.variables import box_variables
from tests.support.endpoints import provider


def test_each_api_has_its_address_and_one_key():
    """The placeholder stands in every key variable; a second one would confuse clients."""
    found = box_variables(
        [provider("a", "x", "anthropic"), provider("b", "y", "openai-chat", "gemini")],
        "gbx_p",
        port=8085,
    )

    assert found["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8085"
    assert found["OPENAI_BASE_URL"] == found["OPENAI_API_BASE"] == "http://127.0.0.1:8085/v1"
    assert found["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:8085"
    assert {name for name, value in found.items() if value == "gbx_p"} == {
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
    }


def test_api_that_nobody_speaks_has_no_variable():
    """A client is not sent where nothing answers it."""
    assert set(box_variables([provider("a", "x", "openai-responses")], "p", port=1)) == {
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
    }
    assert box_variables([], "p", port=1) == {}
