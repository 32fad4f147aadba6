from urllib.parse import urlsplit

import pytest

from orchestrator.config.providers import ProviderSettings
from orchestrator.model.catalog import is_loopback, resolve
from orchestrator.model.vendors import PROVIDERS


@pytest.mark.parametrize("name", PROVIDERS)
def test_address_is_one_that_settings_would_take(name: str) -> None:
    """A key goes over an encrypted line, unless it stays on this machine."""
    known = PROVIDERS[name]
    assert ProviderSettings(base_url=known.base_url).base_url == known.base_url
    assert urlsplit(known.base_url).scheme == "https" or is_loopback(known.base_url)


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("mistral", "mistral"),
        ("deepseek", "deepseek"),
        ("moonshot", "moonshot"),
        ("zai", "zai"),
        ("groq", "groq"),
        ("cerebras", "cerebras"),
        ("together", "together"),
        ("openrouter", "openrouter"),
        ("chutes", "chutes"),
    ],
)
def test_vendor_speaks_its_own_dialect(name: str, dialect: str) -> None:
    """Nobody has to know what it is called."""
    target = resolve(f"{name}/some-model", providers={}, environ={})
    assert (target.api, target.dialect.name, target.key) == ("openai-chat", dialect, name)
    assert target.key_required


def test_model_with_a_slash_has_its_row() -> None:
    """Everything after the first slash is the name as the vendor knows it."""
    info = resolve("groq/openai/gpt-oss-120b", providers={}, environ={}).info
    assert (info.name, info.input_price, info.images) == ("openai/gpt-oss-120b", 0.15, False)
