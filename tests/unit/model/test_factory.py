from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.errors import ConfigError, CredentialError, ModelError
from orchestrator.model.client import Prompt
from orchestrator.model.factory import cleartext_warning, open_model
from orchestrator.model.retry import RetryPolicy
from tests.support.model_contract import target_of
from tests.support.model_history import asked
from tests.support.model_server import Reply, chat_reply, serving

RETRIES = RetryPolicy(attempts=3, first_delay_s=0.01)


class Opened:
    """Opens a model, asks it once, and keeps what was told."""

    def __init__(self) -> None:
        self.warned: list[str] = []
        self.retried: list[int] = []
        self.looked_up: list[str] = []

    def ask(self, spec: str, key: str | None = None, **providers: ProviderSettings) -> str:
        def keys(name: str) -> Secret | None:
            self.looked_up.append(name)
            return Secret(key) if key else None

        async def scene() -> str:
            async with open_model(
                spec,
                providers=providers,
                environ={},
                keys=keys,
                on_retry=lambda attempt, *_: self.retried.append(attempt),
                warn=self.warned.append,
                retry=RETRIES,
            ) as model:
                message = await model.complete(Prompt("", (asked("hi"),)), on_delta=lambda _: None)
                return message.text

        return anyio.run(scene)


def local(address: str, **more: Any) -> ProviderSettings:
    return ProviderSettings(api="openai-chat", base_url=f"{address}/v1", **more)


def test_script_is_opened_without_a_key(tmp_path: Path) -> None:
    """A demo needs no account."""
    path = tmp_path / "s.yaml"
    path.write_text("version: 1\nturns: [{text: hello}]\n")
    opened = Opened()
    assert opened.ask(f"scripted:{path}") == "hello"
    assert opened.looked_up == []


def test_scripted_failures_are_retried_like_any(tmp_path: Path) -> None:
    """The retry is exercised by scripts too."""
    path = tmp_path / "s.yaml"
    path.write_text("version: 1\nturns: [{error: {status: 529, retry_after: 0}}, {text: hello}]\n")
    opened = Opened()
    assert opened.ask(f"scripted:{path}") == "hello"
    assert opened.retried == [1]


def test_own_provider_is_asked_with_its_key_alone() -> None:
    """One name is looked up, and its key goes to its address."""
    opened = Opened()
    with serving(chat_reply(text="hello")) as server:
        assert opened.ask("corp/m", "sk-corp", corp=local(server.address, key="vpn")) == "hello"
        assert server.asked[0].headers["authorization"] == "Bearer sk-corp"
    assert opened.looked_up == ["vpn"]


def test_overloaded_server_is_tried_again() -> None:
    """An overload at first is invisible at last."""
    opened = Opened()
    with serving(Reply(503, body={}), Reply(503, body={}), chat_reply(text="hello")) as server:
        assert opened.ask("corp/m", "sk-corp", corp=local(server.address)) == "hello"
    assert opened.retried == [1, 2]


def test_sdk_makes_no_tries_of_its_own() -> None:
    """The number of tries is ours alone."""
    with serving(Reply(503, body={})) as server:
        with pytest.raises(ModelError):
            Opened().ask("corp/m", "sk-corp", corp=local(server.address))
        assert len(server.asked) == 3


def test_missing_key_is_told_with_the_ways_to_give_it() -> None:
    """The next step stands in the hint."""
    with pytest.raises(CredentialError) as caught:
        Opened().ask("anthropic/m")
    assert "ANTHROPIC_API_KEY" in caught.value.hint
    assert "glovebox keys set anthropic" in caught.value.hint


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ä", "sk\x00"])
def test_key_that_no_header_can_carry_is_refused_unseen(key: str) -> None:
    """A line break in a key must not surface inside an HTTP error."""
    with pytest.raises(CredentialError) as caught:
        Opened().ask("anthropic/m", key)
    assert key not in str(caught.value) + caught.value.hint


def test_unencrypted_address_is_warned_of() -> None:
    """Key and code would be readable on the way."""
    assert "not encrypted" in (cleartext_warning(target_of("anthropic", "http://10.1.2.3")) or "")
    assert cleartext_warning(target_of("anthropic", "http://127.0.0.1:8")) is None
    assert cleartext_warning(target_of("anthropic", "https://example.com")) is None


def test_unknown_spec_is_a_configuration_error() -> None:
    """Nothing is guessed."""
    with pytest.raises(ConfigError):
        Opened().ask("gpt-9")
