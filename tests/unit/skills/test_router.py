"""Which skill is meant: said outright, or by triggers that are clear enough."""

import pytest

from orchestrator.skills.discover import SHIPPED, Root, discover
from orchestrator.skills.router import SURE, Said, by_triggers, said_skill

from .conftest import TOOLS

SKILLS = discover([Root(SHIPPED, "shipped")], tools=TOOLS).skills.values()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/skill review the diff\nnow", Said("review", "the diff\nnow")),
        ("/skill:review", Said("review", "")),
        ("/skill off go on", Said(None, "go on")),
        ("/skills review", None),
        ("please /skill review", None),
        ("/skill", None),
    ],
)
def test_said_outright(text, said):
    assert said_skill(text) == said


@pytest.mark.parametrize(
    ("text", "skill"),
    [
        ("Review my uncommitted changes.", "review"),
        ("code review the branch topic", "review"),
        ("debug the crash when the list is empty", "debug"),
        ("The test fails on CI; find out why.", "debug"),
        ("Why does make test fail?", "debug"),
        ("Write a commit message for what is staged.", "commit-message"),
        ("commit this", "commit-message"),
        ("review the diff and fix the bugs in it", None),
        ("add a debug flag to the review page", None),
        ("the flaky one", None),
        ("commit to a plan for the new parser and build it", None),
        ("hi", None),
        ("", None),
    ],
)
def test_shipped_triggers_choose_what_is_meant_alone(text, skill):
    """A wrong choice would take tools away from who needs them."""
    match = by_triggers(text, SKILLS)

    assert (match.skill if match else None) == skill
    assert match is None or (match.by == "trigger" and match.confidence >= SURE and match.why)


def test_two_that_are_as_sure_choose_nothing(head):
    skill = head("triggers: {words: [broom, dust]}").skill

    assert by_triggers("broom and dust", [skill]).confidence == 0.75
    assert by_triggers("broom and dust", [skill, skill]) is None
    assert by_triggers("broomstick and dustbin", [skill]) is None


def test_a_file_that_is_named_adds_to_a_word(head):
    skill = head("triggers: {words: [sweep], globs: ['*.broom']}").skill

    assert by_triggers("sweep", [skill]) is None
    assert by_triggers("sweep up/old.broom", [skill]).why == ("word sweep", "file up/old.broom")
    assert by_triggers("sweep", [skill], files=["x.broom"]).confidence == 0.7


def test_a_skill_for_people_alone_is_never_chosen(head):
    skill = head("triggers: {words: [broom, dust]}", "disable-model-invocation: true").skill

    assert by_triggers("broom and dust", [skill]) is None
