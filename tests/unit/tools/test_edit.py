from __future__ import annotations

from typing import Any

import pytest

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import EditRequest, Replacement
from orchestrator.tools.edit import EditTool
from orchestrator.tools.tool import ArgumentError, ToolContext

PAIR = {"oldText": "a", "newText": "b"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"edits": [PAIR]},
        {"edits": PAIR},
        {"edits": '[{"oldText": "a", "newText": "b"}]'},
        PAIR,
        {"edits": [{"old_text": "a", "new_text": "b"}]},
    ],
)
def test_every_form_a_model_slips_into_is_one_request(
    context: ToolContext, arguments: dict[str, Any]
) -> None:
    """They all say the same."""
    planned = EditTool().plan({"path": "f", **arguments}, context)

    assert planned == EditRequest("/workspace/f", (Replacement("a", "b"),))


def test_replace_all_is_passed_on(context: ToolContext) -> None:
    """The flat form takes it, too."""
    planned = EditTool().plan({"path": "f", **PAIR, "replaceAll": True}, context)

    assert planned == EditRequest("/workspace/f", (Replacement("a", "b"),), replace_all=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "- edits: missing"),
        ({"edits": []}, "- edits: "),
        ({"edits": "nonsense"}, '- edits: input should be a valid list, got "nonsense"'),
        ({"oldText": "a"}, "- edits.0.newText: missing"),
        ({"edits": [PAIR], "oldText": "x"}, "- oldText: unknown field"),
        ({"edits": [{"old": "a", "newText": "b"}]}, "- edits.0.old: unknown field"),
    ],
)
def test_wrong_form_is_told_field_by_field(
    context: ToolContext, arguments: dict[str, Any], words: str
) -> None:
    """Nothing is guessed where two meanings are possible."""
    with pytest.raises(ArgumentError) as error:
        EditTool().plan({"path": "f", **arguments}, context)

    assert words in str(error.value)


def test_model_gets_the_count_and_the_person_the_diff() -> None:
    """The first changed line lets an editor jump there."""
    request = EditRequest("/workspace/f", (Replacement("a", "b"),))
    outcome = Outcome({"replacements": 2, "lines": [7, 9], "diff": "-a\n+b\n"})

    rendered = EditTool().render(request, outcome)

    assert rendered.output == "made 2 replacements in /workspace/f"
    assert rendered.details["diff"] == "-a\n+b\n"
    assert rendered.details["first_line"] == 7
