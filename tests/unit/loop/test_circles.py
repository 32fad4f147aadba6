"""A run that goes in circles: told once, then ended."""

import pytest

from orchestrator.loop.circles import NOTHING_NEW, PERIODS, Circles, round_of
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import Image, ToolCall, ToolResult


def done(command, output, **more):
    """Return what one turn did."""
    call = ToolCall(CallId("c"), "bash", "", {"command": command, "a": 1})
    return round_of([call], [ToolResult(CallId("c"), "bash", output, **more)])


A, B, RED = done("a", "ok"), done("b", "ok"), done("a", "red")


def test_equal_calls_with_equal_results_are_a_circle():
    """The third time in a row is one too many."""
    seen = Circles(3)

    assert [seen.note(A) for _ in range(3)] == [None, None, PERIODS[1]]


def test_equal_calls_with_other_results_are_none():
    """A test run again after an edit is work."""
    seen = Circles(3)

    assert [seen.note(each) for each in (RED, A, RED, RED)] == [None] * 4


def test_two_calls_taking_turns_are_a_circle():
    """Ping-pong is seen as well."""
    seen = Circles(3)

    assert [seen.note(each) for each in (A, B) * 3][-1] == PERIODS[2]


def test_nothing_new_for_long_is_a_circle_in_any_order():
    c = done("c", "ok")
    seen = Circles(3)
    order = [A, B, c, A, c, B, A, A, B, c, c, A, B, B, c, A]

    found = [seen.note(each) for each in order]
    assert NOTHING_NEW in found
    assert found.index(NOTHING_NEW) == 14


@pytest.mark.parametrize("repeat", [0, 1])
def test_repetition_can_be_switched_off(repeat):
    seen = Circles(repeat)

    assert not any(seen.note(A) for _ in range(9))


def test_model_is_told_once_and_then_the_run_ends():
    seen = Circles(3)

    assert [seen.judge(A)[0] for _ in range(4)] == ["go", "go", "nudge", "stop"]


def test_run_that_found_out_is_told_again_of_the_next_circle():
    seen = Circles(2)
    told = [seen.judge(each)[0] for each in (A, A)]
    told += [seen.judge(done(str(number), "x"))[0] for number in range(4)]
    told += [seen.judge(each)[0] for each in (B, B)]

    assert told == ["go", "nudge", "go", "go", "go", "go", "go", "nudge"]


def test_times_and_addresses_make_no_difference():
    """A command that prints how long it took is still the same."""
    one = done("t", "1 passed in 0.03s at 2026-01-01T10:00:00 0xdeadbeef")
    other = done("t", "1 passed in 0.41s at 2026-01-02T11:30:10 0xfeedface")

    assert one == other


@pytest.mark.parametrize(
    "other",
    [
        done("a", "ok", is_error=True),
        done("a", "ok", images=(Image("image/png", "A"),)),
        done("b", "ok"),
    ],
)
def test_what_really_differs_does(other):
    assert other != A


def test_arguments_count_in_any_order_and_malformed_ones_as_they_are():
    one = ToolCall(CallId("1"), "t", "", {"a": 1, "b": 2})
    other = ToolCall(CallId("2"), "t", "", {"b": 2, "a": 1})
    broken = ToolCall(CallId("3"), "t", '{"a"')

    assert round_of([one], []) == round_of([other], [])
    assert round_of([broken], []) != round_of([one], [])
