"""What a session came to, from its entries alone."""

from __future__ import annotations

import pytest

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Usage
from orchestrator.sessions.stats import stats_of

from .conftest import assistant, entry, result, tool, user


def answer(entry_id: str, parent: str | None, *calls: str, **facts):
    body = {**encode_message(assistant("x", *calls)), "model": "m/one", **facts}
    return entry(entry_id, parent, body=body)


USED = {"input": 100, "output": 10, "cache_read": 50, "cache_write": 0}


def test_each_model_tool_and_skill_has_its_own_sum() -> None:
    """Calls beside the conversation count too, under their purpose."""
    failed = result("b", "y" * 40)
    output = encode_message(tool(result("a", "x" * 80), failed))
    output["results"][1]["is_error"] = True
    usage = {"kind": "usage", "purpose": "summary", "model": "m/two", "usage": USED}
    stats = stats_of(
        [
            entry("u", None, body=encode_message(user("x"))),
            answer("a", "u", "a", "b", usage=USED, cost_usd=0.25, saved_usd=0.05, skill="review"),
            entry("t", "a", body=output),
            answer("z", "t", usage=USED, cost_usd=0.5),
            entry("s", "z", type="custom", body={**usage, "cost_usd": 1.0, "skill": None}),
            entry("k", "s", type="compaction", body={"summary": "S", "usage": USED}),
        ]
    )

    assert stats.total.usage == Usage(300, 30, 150, 0)
    assert (stats.total.calls, stats.total.cost_usd) == (3, 1.75)
    assert stats.total.saved_usd == pytest.approx(0.05)
    assert {name: tally.calls for name, tally in stats.models.items()} == {"m/one": 2, "m/two": 1}
    assert {name: tally.calls for name, tally in stats.purposes.items()} == {
        "turns": 2,
        "summary": 1,
    }
    assert {name: tally.cost_usd for name, tally in stats.skills.items()} == {
        "review": 0.25,
        "": 1.5,
    }
    bash = stats.tools["bash"]
    assert (bash.calls, bash.errors, bash.characters, bash.tokens) == (2, 1, 120, 30)
    assert bash.cost_usd == 0.25, "the answer that called it, shared by its calls"
    assert (stats.said, stats.compactions, stats.entries) == (1, 1, 6)


def test_unknown_cost_is_never_nothing() -> None:
    """One call without a price makes the sum unknown, and what is known is still told."""
    stats = stats_of([answer("a", None, cost_usd=0.5), answer("b", "a")])

    assert stats.total.cost_usd is None
    assert (stats.total.known_usd, stats.total.unpriced) == (0.5, 1)
    assert [turn.cost_usd for turn in stats.turns] == [0.5, None]


def test_cost_of_an_answer_is_shared_by_the_tools_it_called() -> None:
    """So the tools' costs add up to the answers'; an unknown one makes its tools' unknown."""
    priced = answer("a", None, "x", "y", cost_usd=0.5)
    priced.body["content"][-1]["name"] = "read"
    stats = stats_of([priced, answer("b", "a", "z")])

    assert (stats.tools["read"].cost_usd, stats.tools["bash"].cost_usd) == (0.25, None)
    assert (stats.tools["bash"].known_usd, stats.tools["bash"].unpriced) == (0.25, 1)


def test_turns_are_numbered_along_their_branch() -> None:
    """A branch's first turn is not the other branch's next one."""
    stats = stats_of([answer("a", None), answer("b", "a"), answer("c", "a"), answer("d", "c")])

    assert [(turn.entry, turn.number) for turn in stats.turns] == [
        ("a", 1),
        ("b", 2),
        ("c", 2),
        ("d", 3),
    ]


def test_skill_holds_from_its_change_on_its_branch() -> None:
    """Where a message does not say it, the change above it does."""
    on = entry("s", "a", type="skill_change", body={"skill": "debug"})
    off = entry("o", "b", type="skill_change", body={"skill": None})
    stats = stats_of(
        [answer("a", None), on, answer("b", "s"), off, answer("c", "o"), answer("d", "a")]
    )

    assert [turn.skill for turn in stats.turns] == ["", "debug", "", ""]


def test_copy_numbers_on_and_counts_its_own() -> None:
    """What stands above was paid by the session it was copied from."""
    stats = stats_of([answer("b", "a", cost_usd=1.0)], above=[answer("a", None, cost_usd=9.0)])

    assert [turn.number for turn in stats.turns] == [2]
    assert stats.total.cost_usd == 1.0


@pytest.mark.parametrize("usage", [None, [], {"input": "9"}, {"input": -5}, {"input": True}])
@pytest.mark.parametrize("cost", ["1", True, -1, [], None])
def test_damaged_numbers_count_as_unknown(usage: object, cost: object) -> None:
    """What a file holds is not trusted."""
    body = {"kind": "usage", "usage": usage, "cost_usd": cost}
    stats = stats_of([entry("a", None, type="custom", body=body)])

    assert stats.total.usage == Usage()
    assert stats.total.cost_usd is None
    assert list(stats.purposes) == ["other"]
