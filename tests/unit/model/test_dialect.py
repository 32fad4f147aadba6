"""Which dialect of Chat Completions a server speaks."""

import pytest

from orchestrator.config.dialect import DialectSettings
from orchestrator.config.providers import ModelSettings, ProviderSettings
from orchestrator.model.catalog import resolve
from orchestrator.model.dialect import Dialect, dialect_names, dialect_of

HOSTS = {
    "https://api.openai.com/v1": "openai",
    "https://api.cerebras.ai/v1": "cerebras",
    "https://api.x.ai/v1": "xai",
    "https://api.mistral.ai/v1": "mistral",
    "https://llm.chutes.ai/v1": "chutes",
    "https://api.deepseek.com": "deepseek",
    "https://api.together.xyz/v1": "together",
    "https://openrouter.ai/api/v1": "openrouter",
    "https://api.groq.com/openai/v1": "groq",
    "https://api.z.ai/api/paas/v4": "zai",
    "https://api.moonshot.ai/v1": "moonshot",
}


@pytest.mark.parametrize(("address", "name"), HOSTS.items())
def test_host_tells_the_dialect(address, name):
    """Whatever the provider is called in the configuration."""
    assert dialect_of("mine", address).name == name


@pytest.mark.parametrize("name", ["vllm", "llamacpp", "lmstudio", "ollama"])
def test_server_of_ones_own_is_known_by_its_provider(name):
    assert dialect_of(name, "http://127.0.0.1:9").name == name


@pytest.mark.parametrize(
    "address",
    ["https://llm.acme.example/v1", "https://api.openai.com.evil.example", "https://x.aiq"],
)
def test_anything_else_is_plain(address):
    """A name that only looks like a vendor's is none."""
    assert dialect_of("mine", address).name == "plain"


def test_every_row_is_reached():
    known = {*HOSTS.values(), "vllm", "llamacpp", "lmstudio", "ollama", "plain"}

    assert set(dialect_names()) == known


def test_settings_are_laid_over_the_table_the_models_last():
    over = DialectSettings(reasoning_back="never", store=True)
    found = dialect_of("x", "https://api.deepseek.com", over, DialectSettings(store=False), None)

    assert found == Dialect(
        "deepseek", thinking="switch_effort", reasoning_back="never", store=False
    )


def test_configuration_reaches_the_target():
    mine = ProviderSettings(
        api="openai-chat",
        base_url="https://llm.acme.example/v1",
        dialect=DialectSettings(tool_result_name=True),
        models={"small": ModelSettings(dialect=DialectSettings(ids="nine"))},
    )

    def dialect(model):
        return resolve(f"acme/{model}", providers={"acme": mine}, environ={}).dialect

    assert (dialect("big").tool_result_name, dialect("big").ids) == (True, "portable")
    assert (dialect("small").tool_result_name, dialect("small").ids) == (True, "nine")


def test_unknown_member_is_an_error():
    with pytest.raises(ValueError, match="extra"):
        DialectSettings.model_validate({"stores": True})
