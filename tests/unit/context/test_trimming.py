"""Which results are shortened when not everything fits."""

from orchestrator.context.trimming import LEFT, NO_PICTURE, results_share, trim
from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Image, Text, ToolMessage, ToolResult, UserMessage
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import visible

SPILL = "[output cut; full output: read path=/tmp/.glovebox-spill/7 offset=9]"


def seen(*results):
    """Return a conversation of one message a result, and one thing said."""
    messages = [UserMessage((Text("x" * 40_000),))]
    messages += [ToolMessage((item,)) for item in results]
    return visible(
        [
            Entry(f"e{n}", f"e{n - 1}" if n else None, "message", "", encode_message(message))
            for n, message in enumerate(messages)
        ]
    )


def output(size, end=""):
    return ToolResult("1", "bash", "o" * size + end)


def test_largest_goes_first():
    chosen = trim(seen(output(8_000), output(40_000), output(20_000)), 1)

    assert [item.entry for item in chosen] == ["e2"]
    assert chosen[0].saved > 9_000


def test_oldest_of_equals_goes_first():
    assert [item.entry for item in trim(seen(output(8_000), output(8_000)), 1)] == ["e1"]


def test_as_many_as_are_needed():
    chosen = trim(seen(output(40_000), output(20_000), output(8_000)), 12_000)

    assert [item.entry for item in chosen] == ["e1", "e2"]


def test_end_stays_with_where_the_full_output_lies():
    (item,) = trim(seen(output(8_000, SPILL)), 1)
    text = item.message.results[0].output

    assert text.endswith(SPILL)
    assert "characters left out to save room" in text
    assert len(text) < LEFT + 300


def test_small_ones_are_left_as_they_are():
    """A changed prefix costs more than a few tokens save."""
    assert trim(seen(output(1_500)), 10_000) == ()


def test_pictures_are_left_out_with_a_word():
    (item,) = trim(seen(ToolResult("1", "read", "a plan", images=(Image("image/png", "A"),))), 1)

    assert item.message.results[0].images == ()
    assert item.message.results[0].output == f"a plan\n{NO_PICTURE}"


def test_what_was_shortened_once_is_not_again():
    first = trim(seen(output(8_000)), 1)[0].message

    assert trim(seen(first.results[0]), 1) == ()


def test_only_results_count_to_their_share():
    assert 2_000 < results_share(seen(output(8_000))) < 2_020
