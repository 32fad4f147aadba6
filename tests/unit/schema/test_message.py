"""Messages and their sums."""

from orchestrator.schema.ids import CallId
from orchestrator.schema.message import AssistantMessage, Text, Thinking, ToolCall, Usage

FIRST, SECOND = (ToolCall(CallId(name), "bash", "{}") for name in "ab")


def test_calls_keep_their_order_and_texts_are_joined():
    """Thoughts are neither."""
    message = AssistantMessage(
        (Text("one "), FIRST, Thinking("hm", "x"), Text("two"), SECOND), "tool_use"
    )

    assert message.tool_calls == (FIRST, SECOND)
    assert message.text == "one two"


def test_usage_adds_up_by_kind():
    """Cached tokens count in the total."""
    both = Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40)

    assert both == Usage(11, 22, 33, 44)
    assert both.total == 110
