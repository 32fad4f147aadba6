"""How hard to think, in each server's words."""

import pytest

from orchestrator.model.client import ModelInfo
from orchestrator.model.dialect import dialect_of
from orchestrator.model.openai_chat import sdk_fields
from orchestrator.model.openai_chat_thinking import thinking_fields
from orchestrator.schema.thinking import THINKING_LEVELS
from tests.support.model_contract import target_of

ENABLED, DISABLED = {"type": "enabled"}, {"type": "disabled"}
WORDS = {
    "openai": ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    "cerebras": ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    "chutes": ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    "groq": ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    "lmstudio": ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    "ollama": ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    "openrouter": ({"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "none"}}),
    "deepseek": ({"thinking": ENABLED, "reasoning_effort": "high"}, {"thinking": DISABLED}),
    "zai": ({"thinking": ENABLED}, {"thinking": DISABLED}),
    "moonshot": ({"thinking": ENABLED}, {"thinking": DISABLED}),
    "together": ({"reasoning": {"enabled": True}}, {"reasoning": {"enabled": False}}),
    "vllm": (
        {"chat_template_kwargs": {"enable_thinking": True}, "thinking_token_budget": 3_072},
        {"chat_template_kwargs": {"enable_thinking": False}},
    ),
    "llamacpp": (
        {"chat_template_kwargs": {"enable_thinking": True}, "thinking_budget_tokens": 3_072},
        {"chat_template_kwargs": {"enable_thinking": False}},
    ),
    "xai": ({}, {}),
    "mistral": ({}, {}),
    "plain": ({}, {}),
}


def target(name, levels=THINKING_LEVELS):
    info = ModelInfo("x", "m", 100_000, 4_096, thinking=tuple(levels))
    dialect = dialect_of(name, "http://127.0.0.1")
    return target_of("openai-chat", "http://127.0.0.1:1", info=info, dialect=dialect)


@pytest.mark.parametrize(("name", "words"), WORDS.items())
def test_level_is_said_in_the_servers_words(name, words):
    """And of a budget, 1,024 tokens are left for the answer."""
    assert (thinking_fields("high", target(name)), thinking_fields("off", target(name))) == words


@pytest.mark.parametrize("name", WORDS)
def test_nothing_is_said_where_nothing_is_wanted_or_the_model_cannot(name):
    assert thinking_fields(None, target(name)) == {}
    assert thinking_fields("high", target(name, ())) == {}


def test_level_that_a_model_lacks_is_the_next_one():
    assert thinking_fields("minimal", target("groq", ("low", "high"))) == {
        "reasoning_effort": "low"
    }


@pytest.mark.parametrize("words", WORDS.values(), ids=list(WORDS))
def test_what_only_some_servers_know_goes_beside_the_sdks_fields(words):
    """The SDK refuses arguments that it does not know."""
    known, own = sdk_fields({"model": "m", **words[0]})

    assert known.keys() <= {"model", "reasoning_effort"}
    assert {**known, **own} == {"model": "m", **words[0]}
