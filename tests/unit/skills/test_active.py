"""A skill switched on, as a value; and what the prompt says of those that are not."""

from dataclasses import replace

import pytest

from orchestrator.errors import SkillError
from orchestrator.skills.active import activate
from orchestrator.skills.listing import MOST_BYTES, listing
from orchestrator.skills.skill import SkillFile

from .conftest import TOOLS


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ([], ("read", "write", "bash")),
        (["allowed-tools: bash read grep"], ("read", "bash")),
        (["forbidden-tools: write"], ("read", "bash")),
        (["allowed-tools: read bash", "forbidden-tools: [bash]"], ("read",)),
    ],
)
def test_tools_are_only_taken_away(head, fields, kept):
    """In the session's order; one that was not on offer is not added; the rest is closed by name."""
    active = activate(head(*fields).skill, tools=("read", "write", "bash"), known=TOOLS)

    assert active.tools == kept
    assert not set(active.closed) & set(kept)
    assert ("bash" in active.closed) is ("bash" not in kept)


def test_a_skill_that_leaves_nothing_is_refused(head):
    with pytest.raises(SkillError, match="none of the tools on offer"):
        activate(head("allowed-tools: grep").skill, tools=("bash",), known=TOOLS)


def test_instructions_say_where_files_are(head):
    skill = head().skill
    alone = activate(skill, tools=("read",), known=TOOLS)
    with_files = activate(
        replace(skill, files=(SkillFile("a.md", b""),)), tools=("read",), known=TOOLS
    )

    assert alone.instructions == "# Skill: tidy\n\nSweep."
    assert "/skills/tidy" in with_files.instructions


def test_listing_has_a_line_each_and_a_way_to_load(head):
    """Nothing is listed that no tool could load, or that is for people alone."""
    skill = head(description="Tidies <b> & sweeps").skill

    assert listing([skill], tools=("read", "bash")).endswith(
        "\n- tidy: Tidies &lt;b&gt; &amp; sweeps"
    )
    assert "`read /skills/NAME/SKILL.md`" in listing([skill], tools=("bash", "read"))
    assert "`cat /skills/NAME/SKILL.md`" in listing([skill], tools=("bash",))
    assert listing([skill], tools=("write",)) == ""
    assert listing([replace(skill, by_name_only=True)], tools=("read",)) == ""


def test_listing_does_not_grow_without_end(head):
    many = [replace(head(description="x" * 900).skill, name=f"s{n}") for n in range(50)]
    text = listing(many, tools=("read",))

    assert len(text.encode()) < MOST_BYTES + 1500
    assert "more are left out here: s" in text
