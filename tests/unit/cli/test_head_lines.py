"""The head's own doings in words: each event that a person should notice has a line."""

import pytest

from orchestrator.cli.head_lines import head_lines
from orchestrator.loop.limits import Limits, Spent, measured
from orchestrator.schema.event import TurnStart
from orchestrator.schema.head_event import (
    BudgetWarning,
    CallsPaced,
    CompactionEnd,
    CompactionStart,
    ContextTrimmed,
    ModelChange,
    SkillChange,
)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (CompactionStart("manual", 100), ["summarising the conversation (manual, 100 tokens)"]),
        (CompactionEnd("manual", 100, 20), ["summarised: 100 → 20 tokens"]),
        (CompactionEnd("manual", 100, 100, "cut"), ["not summarised: cut"]),
        (ContextTrimmed("images", 2, 900), ["left out of the request: 2 images (900 tokens)"]),
        (
            CallsPaced(2, 41.4, 3),
            ["2 more calls begin in 41 s: policy allows 3 a minute"],
        ),
        (
            ContextTrimmed("thoughts", 2, 900),
            [
                (
                    "the provider refused earlier thoughts: 2 of them, or their signatures, are "
                    "left out from here on (900 tokens)"
                )
            ],
        ),
        (ModelChange("m/two", None, "fallback"), []),
        (ModelChange("m/two", None, "user"), []),
        (SkillChange("review", "trigger"), ["skill review (by trigger)"]),
        (SkillChange(None, "user"), ["no skill any more (by user)"]),
        (BudgetWarning("tokens", 0.8, 1800, 2000), ["80% of tokens used: 1,800 of 2,000"]),
        (BudgetWarning("cost", 0.5, 0.0512, 0.1), ["50% of money used: $0.0512 of $0.1000"]),
        (BudgetWarning("wall_time", 0.5, 31.4, 60), ["50% of time used: 31 s of 60 s"]),
        (TurnStart(1), []),
    ],
)
def test_doings_of_the_head_have_their_words(event, words):
    """And what is none of them has no line."""
    assert [line.strip() for line in head_lines(event)] == words


def test_every_limit_that_is_warned_of_has_a_line():
    """With its share and both figures, whatever its kind."""
    asked = {"asked_tokens": 1, "asked_cost_usd": 1.0, "skill_tokens": 1}
    limits = Limits(1, 1, 1.0, 1.0, cost_usd_per_day=1.0, **asked)
    rows = measured(limits, Spent())
    lines = [
        line
        for row in rows
        for line in head_lines(BudgetWarning(row.kind, 0.8, row.used, row.limit, row.over))
    ]

    assert len(set(lines)) == len(rows) == 8
    assert all("80%" in line and "_" not in line for line in lines)
