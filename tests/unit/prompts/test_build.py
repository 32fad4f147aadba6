"""The system prompt."""

from dataclasses import replace

import pytest

from orchestrator.prompts.build import NO_NETWORK, PROXIED, PromptFacts, system_prompt

FACTS = PromptFacts("/workspace", "2026-01-31", ("read", "bash"))


def test_prompt_says_where_when_and_that_there_is_no_network():
    """What the model cannot find out without asking."""
    text = system_prompt(FACTS)

    assert "/workspace" in text
    assert "2026-01-31" in text
    assert NO_NETWORK in text


def test_prompt_says_how_a_way_out_is_and_how_a_refusal_looks():
    """So that a 403 is reported, and not worked around."""
    text = system_prompt(replace(FACTS, way_out=True))

    assert PROXIED in text
    assert "403" in text
    assert NO_NETWORK not in text


def test_prompt_speaks_of_bash_only_where_it_is_on_offer():
    """A tool that is not there is not praised."""
    assert "bash" in system_prompt(FACTS)
    assert "bash" not in system_prompt(PromptFacts("/workspace", "2026-01-31", ("read",)))


def test_date_stands_at_the_end():
    """Providers cache by prefix: a new day changes the last line alone."""
    today = system_prompt(FACTS)
    tomorrow = system_prompt(PromptFacts("/workspace", "2026-02-01", FACTS.tools))

    assert today.splitlines()[:-1] == tomorrow.splitlines()[:-1]
    assert today.splitlines()[-1] != tomorrow.splitlines()[-1]


@pytest.mark.parametrize("name", ["{{ 7 * 7 }}", "{% raw %}", "<b>&"])
def test_facts_are_text_and_no_template(name):
    """A directory's name is shown as it is."""
    assert name in system_prompt(PromptFacts(name, "2026-01-31", ()))
