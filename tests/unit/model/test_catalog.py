import pytest

from orchestrator.config.providers import ModelSettings, ProviderSettings
from orchestrator.errors import ConfigError
from orchestrator.model.catalog import Target, is_loopback, resolve
from orchestrator.model.vendors import PROVIDERS


def found(
    spec: str,
    environ: dict[str, str] | None = None,
    **providers: ProviderSettings,
) -> Target:
    return resolve(spec, providers=providers, environ=environ or {})


def test_known_model_has_its_row() -> None:
    """Windows and prices come from the table."""
    target = found("anthropic/claude-haiku-4-5")
    assert (target.info.context_window, target.info.max_output) == (200_000, 64_000)
    assert (target.info.input_price, target.info.cache_write_price) == (1, 1.25)
    assert target.info.id == "anthropic/claude-haiku-4-5"


@pytest.mark.parametrize(
    "name", ["claude-haiku-4-5-20251001", "claude-haiku-4-5-latest", "claude-haiku-4-5"]
)
def test_dated_name_is_its_undated_model(name: str) -> None:
    """A date in a name changes neither window nor price."""
    target = found(f"anthropic/{name}")
    assert target.info.output_price == 5
    assert target.info.name == name


def test_unknown_model_gets_safe_defaults_and_no_price() -> None:
    """What is not known is not made up."""
    info = found("openai/some-new-model").info
    assert info.context_window == PROVIDERS["openai"].window
    assert info.max_output <= 16_384
    assert info.input_price is None


@pytest.mark.parametrize(
    ("spec", "api", "address"),
    [
        ("anthropic/m", "anthropic", "https://api.anthropic.com"),
        ("openai/m", "openai-responses", "https://api.openai.com/v1"),
        ("openai-chat/m", "openai-chat", "https://api.openai.com/v1"),
        ("ollama/m", "openai-chat", "http://127.0.0.1:11434/v1"),
        ("llamacpp/m", "openai-chat", "http://127.0.0.1:8080/v1"),
        ("vllm/m", "openai-chat", "http://127.0.0.1:8000/v1"),
        ("lmstudio/m", "openai-chat", "http://127.0.0.1:1234/v1"),
    ],
)
def test_provider_names_its_api_and_address(spec: str, api: str, address: str) -> None:
    """The well-known names work without any setting."""
    target = found(spec)
    assert (target.api, target.base_url) == (api, address)


def test_local_servers_need_no_key_and_vendors_do() -> None:
    """A key is asked for only where there is one."""
    assert not found("ollama/m").key_required
    assert found("anthropic/m").key_required
    assert found("openai-chat/m").key == "openai"


def test_old_models_are_not_asked_for_their_thoughts() -> None:
    """A model that does not reason refuses a request for encrypted reasoning."""
    assert not found("openai/gpt-4o-mini").reasoning
    assert found("openai/gpt-6.1-sol").reasoning
    settings = ProviderSettings(models={"gpt-4o": ModelSettings(reasoning=True)})
    assert found("openai/gpt-4o", openai=settings).reasoning


def test_settings_win_over_environment_and_that_over_the_table() -> None:
    """A base URL comes from the nearest place."""
    environ = {"ANTHROPIC_BASE_URL": "https://gateway.example/"}
    assert found("anthropic/m", environ).base_url == "https://gateway.example"
    settings = ProviderSettings(base_url="http://127.0.0.1:9")
    assert found("anthropic/m", environ, anthropic=settings).base_url == "http://127.0.0.1:9"


def test_environment_address_is_held_to_the_same_rules() -> None:
    """A variable is no back door for a password in an address."""
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL") as caught:
        found("openai/m", {"OPENAI_BASE_URL": "https://user:secret@host/v1"})
    assert "secret" not in str(caught.value)


def test_own_provider_is_used_by_its_name() -> None:
    """Any server that speaks one of the APIs can be named."""
    own = ProviderSettings(
        api="openai-chat",
        base_url="https://llm.example/v1/",
        headers={"x-team": "blue"},
        models={"big": ModelSettings(context_window=8_000, max_output=9_000, input_price=1.5)},
    )
    target = found("corp/big", corp=own)
    assert target.base_url == "https://llm.example/v1"
    assert target.key == "corp"
    assert target.info.context_window == 8_000
    assert target.info.max_output == 8_000
    assert target.info.input_price == 1.5
    assert found("corp/a/b", corp=own).info.name == "a/b"


@pytest.mark.parametrize("spec", ["nobody/m", "corp/m"])
def test_unknown_provider_is_refused_with_what_it_needs(spec: str) -> None:
    """A new name needs an API and an address."""
    with pytest.raises(ConfigError) as caught:
        found(spec, corp=ProviderSettings(api="openai-chat"))
    assert "base_url" in caught.value.hint


@pytest.mark.parametrize("spec", ["", "claude-haiku-4-5", "/x", "anthropic/", "anthropic/ "])
def test_name_without_provider_is_refused(spec: str) -> None:
    """No provider is guessed: a key goes where it was meant to go."""
    with pytest.raises(ConfigError):
        found(spec)


def test_bare_name_of_a_known_model_is_suggested() -> None:
    """The likely meaning is one look away."""
    with pytest.raises(ConfigError) as caught:
        found("claude-haiku-4-5")
    assert "anthropic/claude-haiku-4-5" in caught.value.hint


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1", True),
        ("http://127.9.9.9:8", True),
        ("http://[::1]:8", True),
        ("http://127.0.0.1.example.com", False),
        ("http://10.0.0.1", False),
        ("https://localhost.example", False),
    ],
)
def test_loopback_is_this_machine_alone(address: str, expected: bool) -> None:
    """A name that begins like loopback is not loopback."""
    assert is_loopback(address) is expected


def test_tier_of_an_answers_form_is_the_servers() -> None:
    """Vendors hold to a schema themselves, own servers by their sampler, others by words."""
    assert [found(f"{name}/m").info.tier for name in ("anthropic", "openai", "gemini")] == [
        "native",
        "native",
        "native",
    ]
    assert found("llamacpp/m").info.tier == "grammar"
    own = ProviderSettings(api="openai-chat", base_url="https://llm.example/v1")
    assert found("corp/m", corp=own).info.tier == "prompt"


def test_cache_and_thinking_follow_table_and_settings() -> None:
    """How long a prompt is kept is the provider's setting; how a level is told is the model's."""
    assert found("anthropic/claude-haiku-4-5").thinking_by == "budget"
    assert found("anthropic/claude-opus-5").thinking_by == "effort"
    assert found("openai/gpt-6-sol").cache_options
    assert not found("openai/gpt-5.4").cache_options
    long = ProviderSettings(cache="long")
    target = found("anthropic/claude-opus-5", anthropic=long)
    assert target.cache == "long"
    assert target.info.cache_write_price == 10
    assert found("openai/gpt-6-sol", openai=long).info.cache_write_price == 2.5
