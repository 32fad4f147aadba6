"""The votes of a skill as a policy text whose lines are those of its file."""

import pytest

from orchestrator.skills.frontmatter import split_frontmatter
from orchestrator.skills.policy_part import policy_part


def part(*lines, name="tidy"):
    text = "\n".join(["---", *lines, "---", "Sweep."])
    return policy_part(text, split_frontmatter(text, source="s")[0]["policy"], name=name)


def test_first_field_of_all_has_room_for_what_a_policy_begins_with():
    """Line 3 is the first that it can stand on."""
    made = part("policy:", "  tools: {bash: deny}", "license: x")

    assert made.text == "  version: 1\n  name: skill-tidy\n  tools: {bash: deny}\n"
    assert made.line == 3


@pytest.mark.parametrize(
    "section", ["sandbox", "network", "limits", "models", "approvals", "extends"]
)
def test_what_was_settled_before_is_no_skills_to_say(section):
    with pytest.raises(ValueError, match=f"not {section}"):
        part("policy:", f"  {section}: {{}}")
