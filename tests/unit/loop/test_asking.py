"""One model call: stored and recorded before anything follows."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.context.speech import Speech
from orchestrator.loop.asking import Asking
from orchestrator.model.client import Delta, ModelInfo, Prompt
from orchestrator.schema.event import ErrorRaised, MessageDelta, MessageEnd
from orchestrator.schema.message import AssistantMessage, ToolCall, Usage
from tests.support.loops import open_loop, says

FREE = {"input_price": 1_000_000.0, "output_price": 0.0, "cache_read_price": 250_000.0}


def asking(opened, model=None):
    return Asking(
        model or opened.model,
        Kept(),
        audit=opened.corridor.audit,
        output=opened.corridor.output,
        observe=opened.events.append,
        count=lambda *_: None,
    )


class Kept:
    """A transcript that keeps the facts beside each message."""

    def __init__(self):
        self.added = []

    def add(self, message, **facts):
        self.added.append((message, facts))


def ask(opened, made, facts=None):
    prompt = Prompt(Speech("s", ()).system, opened.messages)

    async def main():
        return await made.ask(prompt, facts or {})

    return anyio.run(main)


def test_answer_is_stored_with_cost_and_facts(tmp_path):
    """And what the cache saved: four read for a quarter of the price."""
    opened = open_loop(tmp_path, says("hi", usage=Usage(2, 5, 4)), prices=FREE)
    made = asking(opened)
    ask(opened, made, {"turn": 3, "skill": "review"})

    ((stored, facts),) = made._transcript.added
    assert stored.text == "hi"
    assert facts == {
        "cost_usd": 3.0,
        "saved_usd": 3.0,
        "fixed_tokens": 1,
        "turn": 3,
        "skill": "review",
    }
    assert opened.corridor.bodies("model_call")[0]["stop_reason"] == "end_turn"
    assert [type(event) for event in opened.events][-1] is MessageEnd


class Says:
    """A model that streams what it is given, and then ends or stays silent."""

    def __init__(self, *deltas, ends):
        self.info = ModelInfo("test", "model", 200_000, 8_000)
        self.deltas, self.ends = deltas, ends

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        for kind, text in self.deltas:
            on_delta(Delta(kind, text))
        if not self.ends:
            await anyio.sleep_forever()
        return AssistantMessage((), "end_turn")


def broken_off(opened, *deltas):
    """Ask a model that stays silent after these, break it off, and return what was stored."""
    made = asking(opened, Says(*deltas, ends=False))

    async def main():
        with anyio.move_on_after(0.05):
            await made.ask(Prompt("s", opened.messages), {})

    anyio.run(main)
    return made._transcript.added


@pytest.mark.case("session-loop-01")
def test_answer_that_is_broken_off_is_kept_as_aborted(tmp_path):
    """What the person saw is what the model is told it said."""
    added = broken_off(open_loop(tmp_path), ("text", "half an ans"), ("thinking", "hm"))

    ((stored, _),) = added
    assert (stored.text, stored.stop_reason) == ("half an ans", "aborted")


def test_answer_that_is_broken_off_counts_by_its_texts(tmp_path):
    """The provider bills it, and did not come to say how much."""
    opened = open_loop(tmp_path, prices={"input_price": 1.0, "output_price": 1.0})
    counted = []
    made = asking(opened, Says(("text", "half an answer " * 40), ends=False))
    made._count = lambda *used: counted.append(used)

    async def main():
        with anyio.move_on_after(0.05):
            await made.ask(Prompt("be good " * 50, opened.messages), {})

    anyio.run(main)
    ((usage, _),) = counted
    ((stored, _),) = made._transcript.added
    assert usage == stored.usage
    assert usage.input > 50
    assert usage.output > 40
    assert usage.estimated == usage.total


@pytest.mark.parametrize("kind", ["thinking", "call"])
def test_what_is_half_of_an_answer_that_is_broken_off_counts_and_is_not_kept(tmp_path, kind):
    """Each thing said could else be stopped while it is thought about, and cost nothing."""
    opened = open_loop(tmp_path)
    added = broken_off(opened, (kind, "hm, let me see " * 40))

    ((stored, _),) = added
    assert (stored.content, stored.stop_reason) == ((), "aborted")
    assert stored.usage.input > 0
    assert stored.usage.output > 40
    assert stored.usage.estimated == stored.usage.total
    shown = [event.kind for event in opened.of(MessageDelta)]
    assert set(shown) <= {"thinking"}


def test_nothing_is_kept_of_an_answer_that_had_not_begun(tmp_path):
    assert broken_off(open_loop(tmp_path), ("text", "first try"), ("void", "")) == []


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_pieces_are_told_without_secrets(tmp_path, kind):
    opened = open_loop(tmp_path, known={"k": "hunter2-hunter2"})
    pieces = ((kind, text) for text in ("it is hunter2", "-hunter2", " there"))
    made = asking(opened, Says(*pieces, ends=True))

    ask(opened, made)
    told = "".join(event.text for event in opened.of(MessageDelta) if event.kind == kind)
    assert "hunter2" not in told
    assert told.startswith("it is ")


@pytest.mark.case("session-loop-16", "session-loop-17")
def test_ids_that_were_used_before_are_made_new(tmp_path):
    twin = says(ToolCall("", "bash", "{}", {}), ToolCall("", "bash", "{}", {}))
    opened = open_loop(tmp_path, twin)

    assert [call.id for call in ask(opened, asking(opened)).tool_calls] == [
        "call_1",
        "call_2",
    ]


def test_word_that_is_not_known_is_told_and_recorded(tmp_path):
    """What it was taken for is a guess."""
    answer = replace(says("hi"), stop_word="bored")
    opened = open_loop(tmp_path, answer)
    ask(opened, asking(opened))

    (told,) = opened.of(ErrorRaised)
    assert "bored" in told.message
    assert "end_turn" in told.hint
    assert opened.corridor.bodies("model_call")[0]["stop_word"] == "bored"
    assert opened.of(MessageEnd)[0].message["stop_word"] == "bored"
