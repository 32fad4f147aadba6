"""One model message put in order, and its price."""

import pytest

from orchestrator.loop.turn import KnownCalls, tidy
from orchestrator.model.client import ModelInfo
from orchestrator.model.prices import cost_of
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import Text, Thinking, ToolCall, Usage
from tests.support.loops import says


def called(call_id):
    return ToolCall(CallId(call_id), "bash", "{}", {})


def ids(message):
    return [call.id for call in message.tool_calls]


def test_message_in_order_stays_as_it_is():
    """Nothing is changed without need."""
    message = says("a", Thinking("b", "test", "sig"), called("c"))

    assert tidy(message, set()) == message


def test_empty_texts_go():
    """They would be refused when sent again."""
    assert tidy(says("", "a", ""), set()).content == (Text("a"),)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["a", "a", "a"], ["a", "a_1", "a_2"]),
        (["", ""], ["call_1", "call_2"]),
        (["a", "a_1", "a"], ["a", "a_1", "a_2"]),
        (["call_1", ""], ["call_1", "call_2"]),
    ],
)
def test_ids_are_unique_within_a_turn(given, kept):
    """Each call can be answered by its own."""
    assert ids(tidy(says(*map(called, given)), set())) == kept


def test_ids_are_unique_in_the_conversation():
    """Some servers count from one in every turn."""
    before = (says(called("a"), called("a_1")), says("text"))

    assert ids(tidy(says(called("a")), KnownCalls().of(before))) == ["a_2"]


def test_only_what_is_new_is_looked_through():
    """A conversation that was cut short or changed is looked through anew."""
    known = KnownCalls()
    first, second = says(called("a")), says(called("b"))

    assert known.of([first]) == {"a"}
    assert known.of([first, second]) == {"a", "b"}
    assert known.of([second]) == {"b"}
    assert known.of([]) == set()


def test_half_characters_become_a_visible_mark():
    """Neither file nor request can hold them."""
    broken = ToolCall(CallId("c"), "ba\udc00sh", '"\ud83d"')
    message = tidy(says("x \ud83d", Thinking("\udfff", "test"), broken), set())

    assert message.content[0] == Text("x \ufffd")
    assert message.content[1].text == "\ufffd"
    assert (message.content[2].name, message.content[2].raw_arguments) == ("ba\ufffdsh", '"\ufffd"')


INFO = ModelInfo("p", "m", 1, 1, input_price=1.0, output_price=10.0)
CACHED = ModelInfo("p", "m", 1, 1, 1.0, 10.0, cache_read_price=0.1, cache_write_price=2.0)
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("info", "usage", "cost"),
    [
        (INFO, Usage(MILLION, MILLION), 11.0),
        (INFO, Usage(cache_read=MILLION, cache_write=MILLION), 2.0),
        (CACHED, Usage(cache_read=MILLION, cache_write=MILLION), 2.1),
        (ModelInfo("p", "m", 1, 1), Usage(1, 0), None),
        (ModelInfo("p", "m", 1, 1, input_price=1.0), Usage(MILLION, 1), None),
        (ModelInfo("p", "m", 1, 1, input_price=1.0), Usage(MILLION, 0), 1.0),
        (ModelInfo("p", "m", 1, 1), Usage(), 0.0),
        (ModelInfo("p", "m", 1, 1, 0.0, 0.0), Usage(5, 5), 0.0),
    ],
)
def test_cost_is_known_or_none(info, usage, cost):
    """A missing price of what was used makes the cost unknown, never zero."""
    assert cost_of(usage, info) == pytest.approx(cost)
