"""Layers in, one text out."""

import pytest

from orchestrator.prompts.assemble import approximate_tokens, assemble
from orchestrator.prompts.layer import Part
from orchestrator.schema.ids import digest_of


def part(layer, name, text, **more):
    return Part(layer, name, text, f"/src/{name}", **more)


FAR = part("context", "AGENTS.md", "far\n" * 200 + "</end>", tail="</end>")
NEAR = part("context", "app/AGENTS.md", "near\n" * 200 + "</end>", tail="</end>")
FRAME = part("context", "project", "frame " * 20, rank=1)
DATE = part("context", "date", "Date: today", last=True)
IDENTITY = part("identity", "identity", "You are an agent.")
SKILL = part("skill", "review", "Review it.")
TOOLS = part("tools", "tools", "tool " * 40)
OUTPUT = part("output", "output", "brief " * 40)
ALL = [OUTPUT, FAR, SKILL, DATE, TOOLS, NEAR, FRAME, IDENTITY]


def test_parts_stand_in_the_order_of_their_layers_and_the_changing_one_last():
    """From the general to the special, whatever order they come in."""
    names = [use.name for use in assemble(ALL).parts]

    assert names == [
        "identity",
        "review",
        "AGENTS.md",
        "app/AGENTS.md",
        "project",
        "tools",
        "output",
        "date",
    ]


def test_each_part_says_what_it_costs_and_where_it_is_from():
    """Layers are sums of their parts."""
    made = assemble(ALL)
    (skill,) = [use for use in made.parts if use.layer == "skill"]

    assert (skill.source, skill.tokens) == ("/src/review", approximate_tokens("Review it."))
    assert made.layers["context"] == sum(use.tokens for use in made.parts if use.layer == "context")
    assert made.digest == digest_of(made.text.encode())


def test_empty_parts_say_nothing_and_cost_nothing():
    """No blank lines where a layer has nothing to say."""
    made = assemble([IDENTITY, part("skill", "none", " \n"), OUTPUT])

    assert "\n\n\n" not in made.text
    assert set(made.layers) == {"identity", "output"}


def test_the_same_parts_give_the_same_bytes():
    """A stable prefix keeps provider caches warm."""
    assert assemble(ALL).digest == assemble(list(ALL)).digest


def test_nothing_is_trimmed_that_fits():
    """The budget itself is allowed."""
    whole = assemble(ALL)

    assert assemble(ALL, budget=whole.tokens) == whole


def test_output_goes_first_then_tools_then_the_farthest_file():
    """What is trimmed is told, in order."""
    whole = assemble(ALL).tokens
    one = assemble(ALL, budget=whole - 1)
    two = assemble(ALL, budget=whole - 70)
    three = assemble(ALL, budget=whole - 130)

    assert one.trimmed == ("output:output",)
    assert two.trimmed == ("output:output", "tools:tools")
    assert three.trimmed == ("output:output", "tools:tools", "context:AGENTS.md (cut)")
    assert three.tokens <= whole - 130
    assert "near" in three.text


def test_a_shortened_file_keeps_the_end_of_its_frame():
    """Else what follows would stand inside it."""
    whole = assemble(ALL).tokens
    made = assemble(ALL, budget=whole - 150)

    assert made.text.count("</end>") == 2
    assert "left out to fit]</end>" in made.text


def test_the_frame_stays_as_long_as_a_file_does():
    """A project's words are never read without it."""
    whole = assemble(ALL).tokens
    for budget in range(30, whole):
        text = assemble(ALL, budget=budget).text
        assert "frame" in text or not ("near" in text or "far" in text)
        assert approximate_tokens(text) <= budget


@pytest.mark.parametrize("less", [0, 1, 10_000])
def test_identity_skill_and_date_never_go(less):
    """Rather too long than a prompt without them: what cannot be sent is refused elsewhere."""
    smallest = assemble([IDENTITY, SKILL, DATE])

    assert assemble(ALL, budget=smallest.tokens - less).text == smallest.text


def test_a_cut_never_tears_a_character():
    """Bytes are counted, characters are cut."""
    wide = part("context", "w", "жёлтый\n" * 300)
    whole = assemble([IDENTITY, wide]).tokens
    for budget in range(100, whole, 7):
        assert "\ufffd" not in assemble([IDENTITY, wide], budget=budget).text
