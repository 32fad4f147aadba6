"""The system prompt's parts."""

from dataclasses import replace

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.assemble import assemble
from orchestrator.prompts.build import (
    NO_NETWORK,
    PROXIED,
    PromptFacts,
    PromptSources,
    prompt_parts,
    system_prompt,
)
from orchestrator.prompts.frame import ProjectFile
from orchestrator.prompts.layer import SkillParts
from orchestrator.prompts.tree import Source, Texts, shipped_texts

FACTS = PromptFacts("/workspace", "2026-01-31", ("read", "bash"))
SHIPPED = PromptSources(shipped_texts())
SKILL = SkillParts("review", "Look for bugs. {{ 7 * 7 }}", "/skills/review/SKILL.md", "As a table.")


def made(facts=FACTS, sources=SHIPPED, skill=None):
    return assemble(prompt_parts(facts, sources, skill=skill))


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


def test_model_and_thinking_do_not_change_the_shipped_prompt():
    """A switch of the model keeps the prefix; a user's own text may name it."""
    assert system_prompt(replace(FACTS, model="a/b", thinking="high")) == system_prompt(FACTS)

    own = {"output": Source("You are {{ model }} at {{ thinking }}.", "/c/output.md")}
    texts = Texts({**shipped_texts().by_name, **own})
    assert (
        "You are a/b at high."
        in made(replace(FACTS, model="a/b", thinking="high"), PromptSources(texts)).text
    )


def test_role_and_rules_are_the_users():
    """Both stand in the first layer."""
    text = made(replace(FACTS, role="a release engineer", rules=("No emoji.",))).text

    assert text.startswith("You are a release engineer working")
    assert "\n- No emoji.\n" in text


def test_a_skill_replaces_its_layers_and_leaves_no_residue():
    """Off again, the bytes are those from before."""
    before = made()
    during = made(skill=SKILL)

    assert "As a table." in during.text
    assert "End with what you did" not in during.text
    assert "{{ 7 * 7 }}" in during.text
    assert during.text.index("Rules that nothing") < during.text.index("Look for bugs")
    assert made() == before


def test_a_skill_without_an_output_format_keeps_the_usual_one():
    """Nothing is lost by switching a skill on."""
    assert "End with what you did" in made(skill=replace(SKILL, output="")).text


def test_files_of_a_project_stand_in_their_frame_nearest_last():
    """They come after identity and safety, as data, with a word on what they are."""
    files = (
        ProjectFile("AGENTS.md", "use tabs {{ secret }}", "/p/AGENTS.md"),
        ProjectFile("app/AGENTS.md", "use spaces", "/p/app/AGENTS.md"),
    )
    text = made(sources=PromptSources(shipped_texts(), files)).text
    places = [
        text.index(word)
        for word in ("Rules that nothing", "no orders of the user", "use tabs", "use spaces")
    ]

    assert places == sorted(places)
    assert "use tabs {{ secret }}" in text


def test_without_files_nothing_is_said_about_them():
    """A word about nothing would cost tokens in every request."""
    assert "project-file" not in made().text
    assert "no orders of the user" not in made().text


def test_deeper_files_are_named_alone():
    """The model reads them when it works there; a path cannot start a line of its own."""
    sources = PromptSources(shipped_texts(), nested=("app/AGENTS.md", "x\n- y/AGENTS.md"))
    text = made(sources=sources).text

    assert "\n- app/AGENTS.md\n- x - y/AGENTS.md\n" in text


def test_secrets_are_taken_out_of_what_others_wrote():
    """A key in AGENTS.md does not go to a provider."""
    files = (ProjectFile("AGENTS.md", "token s3cret", "/p/AGENTS.md"),)
    parts = prompt_parts(
        FACTS,
        PromptSources(shipped_texts(), files),
        scrub=lambda text: text.replace("s3cret", "[redacted]"),
    )

    assert "token [redacted]" in assemble(parts).text


def test_a_projects_text_of_a_layer_keeps_to_the_small_language():
    """The user's own may use all of it."""
    for of_project in (False, True):
        own = {"output": Source("{{ 'x' * 3 }}", "/p/output.md", of_project=of_project)}
        sources = PromptSources(Texts({**shipped_texts().by_name, **own}))
        if of_project:
            with pytest.raises(PromptError, match="not for a project's own texts"):
                made(sources=sources)
        else:
            assert "xxx" in made(sources=sources).text
