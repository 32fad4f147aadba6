"""A small model's choice: one of the names or none, and only where it is sure."""

import json

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.harness.skills.choosing import Chooser
from orchestrator.model.client import ModelInfo
from orchestrator.schema.message import AssistantMessage, Text
from orchestrator.skills.discover import SHIPPED, Root, discover
from orchestrator.tools.registry import BUILTIN_NAMES

SKILLS = list(discover([Root(SHIPPED, "shipped")], tools=BUILTIN_NAMES).skills.values())


class Model:
    """Says its answers in order."""

    def __init__(self, *answers):
        self.info = ModelInfo("x", "m", 1000, 100)
        self.answers, self.asked = list(answers), []

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        self.asked.append(prompt)
        return AssistantMessage((Text(self.answers.pop(0)),), "end_turn")


def said(skill, confidence):
    return json.dumps({"skill": skill, "confidence": confidence, "reason": "so"})


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ([said("debug", 0.9)], ("debug", 0.9)),
        ([said("debug", 0.5)], None),
        ([said("none", 0.9)], None),
        ([said("rm", 0.9), said("review", 0.7)], ("review", 0.7)),
    ],
)
def test_choice_counts_where_it_is_sure_and_known(answers, chosen):
    match = anyio.run(Chooser(Model(*answers)).choose, "it crashes", SKILLS)

    assert (match and (match.skill, match.confidence)) == chosen
    assert match is None or (match.by, match.why) == ("model", ("so",))


def test_what_was_said_is_data_and_cut():
    model = Model(said("none", 1))
    anyio.run(Chooser(model).choose, "x" * 9000, SKILLS)
    text = model.asked[0].messages[0].content[0].text

    assert "<request>" in text
    assert len(text) < 6000


def test_nonsense_twice_is_an_error_and_nothing_to_choose_asks_nobody():
    with pytest.raises(ModelError):
        anyio.run(Chooser(Model("no", "no")).choose, "x", SKILLS)
    assert anyio.run(Chooser(Model()).choose, "x", []) is None
    assert anyio.run(Chooser(Model()).choose, " ", SKILLS) is None
