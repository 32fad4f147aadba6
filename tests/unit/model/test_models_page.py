"""The page about models says what the code does."""

import re
from pathlib import Path

import yaml

from orchestrator.config.providers import ProviderSettings
from orchestrator.model.local import INSTALL
from orchestrator.model.script_file import Script, parse_script
from orchestrator.model.vendors import PROVIDERS

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
APIS = {
    "anthropic": "Anthropic Messages",
    "openai-responses": "OpenAI Responses",
    "openai-chat": "OpenAI Chat Completions",
    "gemini": "Google Gemini",
}


def test_script_on_the_page_is_a_script() -> None:
    """It can be copied as it stands, and names every key but the template."""
    (text,) = [block for block in BLOCKS if block.startswith("version:")]
    script = parse_script(text, "page")
    assert len(script.turns) == 4
    assert set(yaml.safe_load(text)) == set(Script.model_fields) - {"template", "pace_s"}


def test_settings_on_the_page_are_settings() -> None:
    """They can be copied as they stand."""
    texts = [block for block in BLOCKS if block.startswith("providers:")]
    assert len(texts) == 3
    for text in texts:
        for settings in yaml.safe_load(text)["providers"].values():
            ProviderSettings.model_validate(settings)


def test_every_provider_has_its_row() -> None:
    """Name, API, address and key as they are in the catalogue."""
    for name, provider in PROVIDERS.items():
        key = f"`{provider.key}`" + ("" if provider.key_required else ", optional")
        row = f"| `{name}` | {APIS[provider.api]} | `{provider.base_url}` | {key} |"
        assert row in PAGE


def test_command_that_installs_the_local_model_is_the_hints() -> None:
    """Page and error say the same."""
    assert INSTALL in PAGE
