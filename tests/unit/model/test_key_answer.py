import pytest

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError
from orchestrator.model.key_answer import listed

KEY = Secret("sk-1234567890")


def test_models_are_counted() -> None:
    """A server without any may write null."""
    assert listed("p", '{"data": [1, 2]}', field="data", key=KEY) == 2
    assert listed("p", '{"data": null}', field="data", key=None) == 0


def test_other_answers_are_shown_cut_and_without_the_key() -> None:
    """A person sees what answers there."""
    with pytest.raises(ModelError) as caught:
        listed("p", f"<html>\n{KEY.reveal()} {'x' * 500}", field="data", key=KEY)
    assert "got '<html> [key] xxx" in caught.value.message
    assert len(caught.value.message) < 200
    with pytest.raises(ModelError, match="got an empty answer"):
        listed("p", "", field="data", key=KEY)
