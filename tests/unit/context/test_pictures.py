"""Which messages are told without their pictures."""

from orchestrator.context.pictures import REFUSED, lighten
from orchestrator.model.projection import count_pictures
from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Image, Text, ToolMessage, ToolResult, UserMessage
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import visible

PICTURE = Image("image/png", "A")


def seen(*messages):
    return visible(
        [
            Entry(f"e{n}", f"e{n - 1}" if n else None, "message", "", encode_message(message))
            for n, message in enumerate(messages)
        ]
    )


def shown(*pictures):
    return ToolMessage((ToolResult("1", "read", "", images=pictures),))


def test_all_but_the_newest_go_first():
    """Also of one message that shows several."""
    chosen = lighten(seen(UserMessage((Text("see"), PICTURE)), shown(PICTURE, PICTURE)))

    assert [(item.entry, item.count) for item in chosen] == [("e0", 1), ("e1", 1)]
    assert chosen[0].message.content == (Text("see"), Text(REFUSED))
    assert chosen[1].message.results[0].output == REFUSED
    assert count_pictures(chosen[1].message) == 1


def test_last_one_goes_at_last_and_then_there_is_none():
    (item,) = lighten(seen(UserMessage((Text("see"),)), shown(PICTURE)))

    assert item.entry == "e1"
    assert lighten(seen(item.message)) == []
