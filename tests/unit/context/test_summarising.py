"""Asking for a summary, and taking only a whole one."""

from functools import partial

import anyio
import pytest

from orchestrator.context.summarising import Summariser
from orchestrator.errors import ContextError, ModelError
from orchestrator.schema.message import AssistantMessage, Text, ToolCall, Usage, UserMessage
from orchestrator.schema.text_tokens import text_tokens
from tests.support.contexts import Sums, render


def said(*texts):
    return [UserMessage((Text(text),)) for text in texts]


def compact(sums, messages, **more):
    asked = {"previous": "", "focus": "", "split": False} | more
    return anyio.run(partial(Summariser(sums, render).compact, messages, **asked))


def test_request_holds_conversation_previous_summary_and_instruction():
    sums = Sums("short")
    text, usage = compact(sums, said("hello"), previous="before", focus="tests", split=True)

    assert (text, usage.total) == ("short", 15)
    assert sums.asked[0].purpose == "summary"
    assert sums.asked[0].tools == ()
    assert sums.text() == (
        "<conversation>\n[user]: hello\n</conversation>\n\n"
        "<previous-summary>\nbefore\n</previous-summary>\n\n"
        "compact-summary {'focus': 'tests', 'previous': True, 'split': True}"
    )


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (AssistantMessage((Text("half"),), "max_tokens"), "ended with max_tokens"),
        (AssistantMessage((Text("no"),), "refusal"), "ended with refusal"),
        (AssistantMessage((Text("x"), ToolCall("1", "bash", "{}")), "tool_use"), "a call of bash"),
        (AssistantMessage((), "end_turn"), "got nothing"),
        ("  ", "got nothing"),
    ],
)
def test_what_is_no_whole_summary_is_refused(answer, why):
    """Half a one would be taken for the whole; it is asked for once more, and then no more."""
    sums = Sums(answer, answer, "whole")
    with pytest.raises(ContextError, match=why):
        compact(sums, said("hello"))

    assert len(sums.asked) == 2


def test_summary_that_is_whole_the_second_time_is_taken():
    """The model is told what was wrong, and both answers are paid for."""
    half = AssistantMessage((Text("half"),), "max_tokens", Usage(input=10, output=5))
    sums = Sums(half, "whole")
    text, usage = compact(sums, said("hello"))

    assert (text, usage.total) == ("whole", 30)
    assert sums.text(1).startswith(sums.text(0))
    assert "ended with max_tokens" in sums.text(1)


def test_what_is_too_long_is_summarised_piece_by_piece():
    """Each takes the summary of those before it in; the split is told of the last alone."""
    sums = Sums(window=4_000)
    text, usage = compact(sums, said(*("x" * 5_000 for _ in range(4))), split=True)

    assert len(sums.asked) > 1
    assert text == f"summary {len(sums.asked)}"
    assert usage.total == 15 * len(sums.asked)
    assert "<previous-summary>\nsummary 1\n" in sums.text(1)
    assert "'split': False" in sums.text(0)
    assert "'split': True" in sums.text(-1)


@pytest.mark.parametrize("size", [1_000, 30_000])
def test_long_previous_summary_leaves_room_for_what_came_since(size):
    """A model with a longer window wrote it."""
    sums = Sums(window=4_000)
    compact(sums, said(*("x" * 5_000 for _ in range(4))), previous="p" * size)

    assert "<previous-summary>\np" in sums.text(0)
    assert all(text_tokens(sums.text(n)) < 3_000 for n in range(len(sums.asked)))
    assert len(sums.asked) < 12


def test_one_message_longer_than_any_request_is_shortened():
    sums = Sums(window=4_000)
    compact(sums, said("y" * 100_000))

    assert len(sums.asked) == 1
    assert len(sums.text()) < 16_000


@pytest.mark.parametrize("text", ["密封的盒子", "😀", "QUJDREVGMTIzNDU2Nzg5MA9" * 2])
def test_pieces_of_any_script_fit_the_summarisers_window(text):
    """Four characters are no token everywhere."""
    sums = Sums(window=4_000)
    compact(sums, said(*(text * (6_000 // len(text)) for _ in range(3)), text * 20_000))

    assert len(sums.asked) > 3
    assert all(text_tokens(sums.text(n)) < 3_000 for n in range(len(sums.asked)))


class Small(Sums):
    """A model that takes less than it is said to."""

    def __init__(self, takes):
        super().__init__()
        self.takes, self.refused = takes, 0

    async def complete(self, prompt, *, on_delta):
        if len(prompt.messages[0].content[0].text) > self.takes:
            self.refused += 1
            raise ModelError("too long", kind="overflow", status=400)
        return await super().complete(prompt, on_delta=on_delta)


def test_model_that_takes_less_than_it_is_said_to_is_asked_for_less():
    """Else the conversation could never be compacted, and so never be gone on with."""
    sums = Small(takes=100_000)
    text, _ = compact(sums, said(*(f"part {n} " + "word " * 6_000 for n in range(20))))

    assert text == f"summary {len(sums.asked)}"
    assert all(f"part {n} " in "".join(map(sums.text, range(len(sums.asked)))) for n in range(20))
    assert 0 < sums.refused <= 4


def test_model_that_takes_nothing_is_not_asked_for_ever():
    sums = Small(takes=0)
    with pytest.raises(ModelError, match="too long"):
        compact(sums, said("hello"))

    assert sums.refused == 7


def test_branch_too_long_for_the_model_is_cut_further_from_its_beginning():
    sums = Small(takes=20_000)
    messages = said(*("old " * 4_000 for _ in range(60)), "newest")
    anyio.run(partial(Summariser(sums, render).branch, messages, focus=""))

    assert "newest" in sums.text()


def test_branch_is_summarised_from_its_end_without_results():
    sums = Sums("went wrong", window=4_000)
    messages = said("old " * 2_000, "newest")
    text, _ = anyio.run(partial(Summariser(sums, render).branch, messages, focus=""))

    assert text == "went wrong"
    assert "newest" in sums.text()
    assert len(sums.asked) == 1
