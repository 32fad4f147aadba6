import pytest
import yaml
from pydantic import ValidationError

from orchestrator.config.providers import ModelSettings, ProviderSettings


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/v1",
        "host:8080",
        "https://",
        "https://user:pw@host",
        "https://host/v1?key=abc",
        "https://host/#x",
        "",
    ],
)
def test_address_that_is_none_or_holds_secrets_is_refused(address: str) -> None:
    """A base URL is an address and nothing more."""
    with pytest.raises(ValidationError):
        ProviderSettings(base_url=address)


def test_address_loses_its_last_slash() -> None:
    """Two ways to write one address are one address."""
    assert ProviderSettings(base_url="http://h:1/v1/").base_url == "http://h:1/v1"


@pytest.mark.parametrize("name", ["Authorization", "x-api-key", "Cookie", "API-Key"])
def test_header_that_carries_a_secret_is_refused(name: str) -> None:
    """Secrets are kept by ``glovebox keys``, not in a plain file."""
    with pytest.raises(ValidationError, match="glovebox keys") as caught:
        ProviderSettings(headers={name: "Bearer abc"})
    assert "carries a secret" in str(caught.value)


def test_unknown_setting_is_refused() -> None:
    """A typo is an error, not a default."""
    with pytest.raises(ValidationError):
        ProviderSettings.model_validate({"baseurl": "http://h"})


def test_level_off_is_a_word_though_yaml_reads_it_as_false() -> None:
    """Nobody has to know which words YAML takes for yes and no."""
    thinking = yaml.safe_load("[off, low]")
    assert ModelSettings.model_validate({"thinking": thinking}).thinking == ("off", "low")
    with pytest.raises(ValidationError):
        ModelSettings.model_validate({"thinking": [True]})
