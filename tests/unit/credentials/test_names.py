import pytest

from orchestrator.credentials.names import checked_name, name_of, variable_of
from orchestrator.errors import UsageError


def test_name_and_variable_belong_together() -> None:
    """The vendors' own variables are found by their names."""
    assert variable_of("anthropic") == "ANTHROPIC_API_KEY"
    assert variable_of("my-proxy.eu") == "MY_PROXY_EU_API_KEY"
    assert name_of("OPENAI_API_KEY") == "openai"
    assert name_of("MY_PROXY_API_KEY") == "my-proxy"
    assert name_of("OPENAI_API_KEYS") is None
    assert name_of("_API_KEY") is None


@pytest.mark.parametrize("name", ["", "sk-ABC123", "a b", "../x", "-a", "x" * 65, ".names"])
def test_what_is_no_name_is_refused_unseen(name: str) -> None:
    """A key typed in the place of a name is not repeated."""
    with pytest.raises(UsageError) as caught:
        checked_name(name)
    assert not name or name not in str(caught.value)
