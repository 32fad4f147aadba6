"""Which providers the box may reach."""

import pytest

from orchestrator.config.providers import ModelSettings, ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.errors import CredentialError
from orchestrator.harness.box_models.providers import ProviderFacts, box_upstreams, may_use
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.message import Usage


def upstreams(*globs, keys=None, settings=None, model="", environ=None):
    asked, notes = [], []
    held = keys or {}

    def get(name):
        asked.append(name)
        if held.get(name) == "locked":
            raise CredentialError("the keyring is locked")
        return Secret(held[name]) if name in held else None

    facts = ProviderFacts(settings or {}, environ or {}, get, notes.append, model)
    found = box_upstreams(BoxModels(in_box="allow", allow=(globs or ("*",),)), facts)
    return found, asked, notes


def test_vendors_with_a_key_are_there_and_others_are_not():
    """Local servers only where somebody names them."""
    found, _, notes = upstreams(keys={"anthropic": "sk-a", "openai": "sk-o"})

    assert [up.name for up in found] == ["anthropic", "openai"]
    assert found[1].apis == {"openai-chat", "openai-responses"}
    assert found[0].key == Secret("sk-a")
    assert notes == []


def test_no_key_is_looked_for_where_policy_lets_no_model_pass():
    """A vault is not opened for nothing."""
    _, asked, _ = upstreams("openai/*", "local")

    assert asked == ["openai"]


@pytest.mark.parametrize(
    ("glob", "reaches"),
    [
        ("*", True),
        ("corp/*", True),
        ("c*/x", True),
        ("corp/one", True),
        ("*haiku*", True),
        ("other/*", False),
        ("corp", False),
    ],
)
def test_provider_is_reached_by_a_glob_that_could_fit(glob, reaches):
    """By its first part, or by a star that reaches over."""
    assert may_use(BoxModels(in_box="allow", allow=((glob,),)), "corp") is reaches
    assert not may_use(BoxModels(in_box="allow"), "corp")


def test_sessions_own_provider_comes_first_then_configured_ones():
    """A name that several could answer goes to the one the person chose."""
    corp = ProviderSettings(
        api="openai-chat",
        also=("anthropic",),
        base_url="http://10.0.0.5:8000/v1",
        key_required=False,
        models={"big": ModelSettings(input_price=1, output_price=2)},
    )
    found, _, notes = upstreams(
        keys={"anthropic": "sk-a"}, settings={"corp": corp}, model="ollama/qwen3"
    )

    assert [up.name for up in found] == ["ollama", "corp", "anthropic"]
    assert found[0].direct
    assert found[1].apis == {"openai-chat", "anthropic"}
    assert not found[1].direct
    assert "is not encrypted" in notes[0]
    assert found[1].price("big").cost(Usage(1_000, 1_000)) == pytest.approx(0.003)
    assert found[1].price("other").cost(Usage(1_000_000)) == 0


def test_provider_that_cannot_be_used_is_told_of_and_left_out():
    """A locked keyring or a lacking key stops nothing else."""
    corp = ProviderSettings(api="openai-chat", base_url="https://corp.example/v1")
    found, _, notes = upstreams(
        keys={"anthropic": "locked", "openai": "sk-o"}, settings={"corp": corp}
    )

    assert [up.name for up in found] == ["openai"]
    assert "no key named 'corp'" in notes[0]
    assert "the keyring is locked" in notes[1]


def test_moved_address_speaks_what_is_said_of_it():
    """Only the vendor is known to speak both of its APIs."""
    settings = {"openai": ProviderSettings(base_url="https://proxy.example/v1")}
    found, _, _ = upstreams(keys={"openai": "sk-o"}, settings=settings)

    assert found[0].apis == {"openai-responses"}
    assert found[0].base_url == "https://proxy.example/v1"


def test_unknown_price_stays_unknown_with_a_key():
    """Whoever has a key is billed."""
    found, _, _ = upstreams(keys={"anthropic": "sk-a"})

    assert found[0].price("claude-haiku-4-5-20251001").known
    assert not found[0].price("claude-unheard-of").known
