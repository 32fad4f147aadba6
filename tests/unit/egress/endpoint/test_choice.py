"""Who answers."""

import pytest

from orchestrator.egress.endpoint.choice import allowed_words, choose
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import find_route
from orchestrator.policy.box_models import BoxModels
from tests.support.endpoints import provider

CHAT = find_route("POST", "/chat/completions", {})
MESSAGES = find_route("POST", "/messages", {})
ONE = provider("one", "http://x", "openai-chat")
TWO = provider("two", "http://y", "openai-chat", "openai-responses")


def rules(*globs, **more):
    return BoxModels(in_box="allow", allow=(globs,), **more)


@pytest.mark.parametrize(
    ("name", "terms", "expected"),
    [
        ("m", rules("*"), "one/m"),
        ("m", rules("two/*"), "two/m"),
        ("two/m", rules("*"), "two/m"),
        ("org/m", rules("*"), "one/org/m"),
        ("small", rules("*", map=(("sm*", "two/big"),)), "two/big"),
        ("small", rules("two/big", map=(("*", "two/big"),)), "two/big"),
    ],
)
def test_first_provider_whose_model_is_allowed_answers(name, terms, expected):
    """A map comes first, then a provider's name, then the order of providers."""
    chosen = choose(name, CHAT, [ONE, TWO], terms=terms)

    assert chosen.spec == expected
    assert chosen.asked == name


def test_map_is_followed_once():
    """No chain, no circle."""
    terms = rules("*", map=(("a", "one/b"), ("b", "one/c")))

    assert choose("a", CHAT, [ONE], terms=terms).model == "b"


def test_stand_in_must_be_allowed_too():
    """A map chooses among what is allowed and opens nothing."""
    with pytest.raises(RefusedCallError, match="which stands for two/big, is not allowed"):
        choose("a", CHAT, [ONE, TWO], terms=rules("one/*", map=(("*", "two/big"),)))


def test_provider_of_one_model_is_named_by_itself():
    """As ``--model local`` is."""
    local = provider("local", "http://x", "openai-chat", only_model="small")

    assert choose("local", CHAT, [ONE, local], terms=rules("local/*")).spec == "local/small"
    mapped = rules("*", map=(("gpt-*", "local"),))
    assert choose("gpt-9", CHAT, [ONE, local], terms=mapped).spec == "local/small"


def test_refusal_says_what_may_be_asked_for():
    """So that a person or a model can go on."""
    with pytest.raises(RefusedCallError) as caught:
        choose("gpt-5-nano", CHAT, [ONE, TWO], terms=rules("one/big", "two/*-mini"))

    assert caught.value.status == 403
    assert "allowed: one/big, two/*-mini; providers of this API: one, two" in caught.value.message
    assert "models.box.map" in caught.value.message


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ((("*",), ("one/big",)), "allowed: one/big;"),
        ((("one/*",), ("one/big",)), "allowed: one/*, and of these what matches one/big;"),
        ((("one/*",), ("one/*",)), "allowed: one/*;"),
        (((),), "allowed: nothing;"),
        ((), "allowed: nothing;"),
    ],
)
def test_lists_that_allow_everything_are_not_named(lists, words):
    """They narrow nothing."""
    terms = BoxModels(in_box="allow", allow=lists)

    assert allowed_words([ONE], terms).startswith(words)


def test_one_api_is_not_translated_into_another():
    """The error says who speaks what."""
    with pytest.raises(RefusedCallError) as caught:
        choose("m", MESSAGES, [ONE, TWO], terms=rules("*"))

    assert caught.value.status == 404
    assert "no provider of this session speaks anthropic" in caught.value.message
    assert "two speaks openai-chat, openai-responses" in caught.value.message
