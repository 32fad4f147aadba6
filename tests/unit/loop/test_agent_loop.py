"""The loop: turns until the model is done, with every message on disk before it has an effect."""

import json
from dataclasses import replace

import anyio
import pytest

from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.dispatch.batch import INTERRUPTED, NOT_STARTED
from orchestrator.errors import ModelError
from orchestrator.harness.transcript import StoredTranscript
from orchestrator.loop.limits import Limits
from orchestrator.loop.whole import WholeConversation
from orchestrator.loop.words import CUT_CALL, CUT_TEXT, NO_TOOLS, NOT_FINISHED, NOTHING_SAID
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.codec import encode_message
from orchestrator.schema.event import (
    ErrorRaised,
    LimitReached,
    MessageDelta,
    MessageEnd,
    TurnEnd,
    TurnStart,
)
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    Text,
    Thinking,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from orchestrator.sessions.store import SessionStore
from tests.support.corridor import call, raw_call, verdict
from tests.support.loops import ToldRunner, open_loop, says

SECRET = "correct-horse-battery-staple-7"
HI = {"echo hi": Reply("hi\n")}


def run(opened):
    return anyio.run(opened.loop.run)


def bash(number=1, command="echo hi"):
    return call("bash", number, command=command)


def results(opened):
    """Return all results of the conversation, turn by turn."""
    return [message.results for message in opened.messages if isinstance(message, ToolMessage)]


def on_disk(opened):
    """Return the messages of the session file as another process reads them now."""
    lines = opened.store.path.read_bytes().splitlines()
    entries = [json.loads(line) for line in lines[1:]]
    return [entry["body"] for entry in entries if entry["type"] == "message"]


def assert_each_call_is_answered_once_in_place(messages):
    """The first invariant of every request."""
    for at, message in enumerate(messages):
        calls = getattr(message, "tool_calls", ())
        if calls:
            after = messages[at + 1]
            assert isinstance(after, ToolMessage)
            assert [result.call for result in after.results] == [one.id for one in calls]


def test_answer_without_calls_ends_the_run_as_done(tmp_path):
    """One turn, its answer, its usage."""
    opened = open_loop(tmp_path, says("all done", usage=Usage(10, 5)))

    end = run(opened)

    assert (end.status, end.answer, end.turns) == ("done", "all done", 1)
    assert end.usage == Usage(10, 5)
    assert list(dict.fromkeys(type(event) for event in opened.events)) == [
        TurnStart,
        MessageDelta,
        MessageEnd,
        TurnEnd,
    ]


def test_calls_are_run_and_their_results_are_in_the_next_request(tmp_path):
    """The model sees what came of what it asked for, directly after its turn."""
    opened = open_loop(tmp_path, says("look", bash()), says("done"), box=ScriptedBox(HI))

    end = run(opened)

    assert (end.status, end.turns) == ("done", 2)
    assert [result.output for result in opened.model.prompts[1].messages[-1].results] == ["hi"]
    assert opened.model.prompts[0].system == "be good"
    assert [tool.name for tool in opened.model.prompts[0].tools] == ["bash"]


def test_assistant_message_is_on_disk_before_its_calls_have_an_effect(tmp_path):
    """The box itself reads the file: the call it is asked for stands in it."""
    seen = []

    class LookingBox(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            seen.append(on_disk(opened)[-1])
            return await super().execute(request, on_output=on_output)

    opened = open_loop(tmp_path, says(bash()), says("done"), box=LookingBox(HI))

    run(opened)

    assert seen[0]["role"] == "assistant"
    assert seen[0]["content"][0]["id"] == "call_1"


def test_tool_results_are_on_disk_before_the_next_model_call(tmp_path):
    """A crash in the model's call loses no result."""
    opened = open_loop(tmp_path, says(bash()), says("done"), box=ScriptedBox(HI))
    seen = []
    opened.model.before = lambda _: seen.append(on_disk(opened)[-1]["role"])

    run(opened)

    assert seen == ["user", "tool"]


def test_every_model_call_is_on_record(tmp_path):
    """Model, end, usage, the calls asked for and the digest of what was stored."""
    opened = open_loop(tmp_path, says(bash(), usage=Usage(7, 3)), says("done"), box=ScriptedBox(HI))

    run(opened)

    kinds = [record["type"] for record in opened.corridor.records()]
    first = opened.corridor.bodies("model_call")[0]
    assert kinds == ["genesis", "model_call", "intent", "outcome", "model_call"]
    assert (first["calls"], first["stop_reason"], first["usage"]["input"]) == (
        ["call_1"],
        "tool_use",
        7,
    )
    assert first["message_digest"].startswith("sha256:")


def test_abort_while_a_tool_runs_closes_the_call(tmp_path):
    """The conversation can go on: the call has a result that says what is not known."""
    begun = anyio.Event()

    class EndlessBox(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            begun.set()
            await anyio.sleep_forever()

    opened = open_loop(tmp_path, says(bash()), box=EndlessBox())

    async def abort():
        async with anyio.create_task_group() as group:
            group.start_soon(opened.loop.run)
            await begun.wait()
            group.cancel_scope.cancel()

    anyio.run(abort)
    opened.store.append("message", {"role": "user", "content": [{"type": "text", "text": "go on"}]})
    opened.store.close()

    with SessionStore.open(opened.store.path) as again:
        messages = again.messages()
    assert_each_call_is_answered_once_in_place(messages)
    assert [result.output for result in messages[2].results] == [INTERRUPTED]
    assert messages[-1] == UserMessage((Text("go on"),))


def test_results_of_a_turn_are_one_message_in_the_order_of_calls(tmp_path):
    """Parallel reads of which one is refused: three results, directly after the calls."""

    def decide(request, tool):
        return verdict("deny" if request.path.endswith("b") else "allow")(request, tool)

    reads = [call("read", n, path=name) for n, name in enumerate("abc", 1)]
    box = ScriptedBox(files={f"/workspace/{name}": name for name in "abc"})
    opened = open_loop(tmp_path, says(*reads), says("done"), box=box, evaluate=decide)

    run(opened)

    (told,) = results(opened)
    assert_each_call_is_answered_once_in_place(opened.model.prompts[1].messages)
    assert [result.is_error for result in told] == [False, True, False]


def test_cut_call_is_not_run_and_the_model_is_told_why(tmp_path):
    """No file is touched, even where the cut arguments parse."""
    cut = says(
        raw_call("write", '{"path": "a", "content": "ha', 1),
        call("write", 2, path="b", content="half"),
        stop="max_tokens",
    )
    box = ScriptedBox()
    opened = open_loop(tmp_path, cut, says("done"), box=box)

    end = run(opened)

    assert end.status == "done"
    assert box.requests == []
    assert [result.output for result in results(opened)[0]] == [CUT_CALL, CUT_CALL]


def test_cut_text_is_gone_on_with_once(tmp_path):
    """The model is asked to go on where it stopped."""
    opened = open_loop(tmp_path, says("half", stop="max_tokens"), says("whole"))

    end = run(opened)

    assert (end.status, end.answer) == ("done", "whole")
    assert opened.model.prompts[1].messages[-1] == UserMessage((Text(CUT_TEXT),))


class Shrinking(WholeConversation):
    """A context that can be made shorter, or not."""

    can = True
    asked = 0

    async def shrink(self, speech):  # noqa: ARG002 - the Context's form
        self.asked += 1
        return self.can


@pytest.mark.parametrize("parts", [("half",), (bash(),)], ids=["text", "call"])
@pytest.mark.parametrize(("can", "status"), [(True, "done"), (False, "failed")])
def test_answer_cut_by_a_full_window_goes_on_in_a_shorter_conversation(
    tmp_path, parts, *, can, status
):
    """What was said is kept and no call of it runs; in a full window nothing could go on."""
    word = "model_context_window_exceeded"
    cut = replace(says(*parts, stop="max_tokens"), stop_word=word)
    context = Shrinking(tuple, cache_key="k")
    context.can = can
    box = ScriptedBox(HI)
    opened = open_loop(tmp_path, cut, says("whole"), box=box, context=context)

    end = run(opened)

    assert (end.status, len(opened.model.prompts)) == (status, 2 if can else 1)
    assert context.asked == 1
    assert box.requests == []
    assert opened.messages[1].stop_word == word
    # It is no word that nobody knows.
    assert [error for error in opened.of(ErrorRaised) if word in error.message] == []


@pytest.mark.parametrize("parts", [("half",), (bash(),)], ids=["text", "call"])
def test_second_cut_in_a_row_ends_the_run_as_failed(tmp_path, parts):
    """A cut answer is never a normal end, and is not asked for for ever."""
    box = ScriptedBox(HI)
    opened = open_loop(
        tmp_path, says(*parts, stop="max_tokens"), says(*parts, stop="max_tokens"), box=box
    )

    end = run(opened)

    assert (end.status, end.turns) == ("failed", 2)
    assert box.requests == []
    assert "max_tokens" in opened.of(ErrorRaised)[0].message
    assert_each_call_is_answered_once_in_place(opened.messages)


def test_cuts_that_are_not_in_a_row_are_each_recovered(tmp_path):
    """A long run is not lost by a second cut an hour later."""
    cut = says("half", stop="max_tokens")
    opened = open_loop(tmp_path, cut, says(bash()), cut, says("done"), box=ScriptedBox(HI))

    assert run(opened).status == "done"


@pytest.mark.parametrize("stop", ["refusal", "aborted"])
def test_calls_of_an_unfinished_answer_are_not_run(tmp_path, stop):
    """A turn counts as finished only if the provider said so."""
    box = ScriptedBox(HI)
    opened = open_loop(tmp_path, says("I", bash(), stop=stop), box=box)

    end = run(opened)

    assert (end.status, end.answer) == ("failed", "I")
    assert box.requests == []
    assert [result.output for result in results(opened)[0]] == [NOT_FINISHED]
    assert stop in opened.of(ErrorRaised)[0].message


class SlowRunner(ToldRunner):
    async def dispatch(self, calls, *, keep):  # noqa: ARG002 - a runner's form
        await anyio.sleep_forever()


CHANGING = {"runner": ToldRunner(output=lambda number: f"line {number}")}
REACHED = {
    "steps": {"limits": Limits(steps=2), "runner": ToldRunner(output=lambda n: f"line {n}")},
    "tokens": {"limits": Limits(tokens=30), "runner": ToldRunner(output=lambda n: f"line {n}")},
    "cost": {
        "limits": Limits(cost_usd=0.001),
        "runner": ToldRunner(output=lambda n: f"line {n}"),
        "prices": {"input_price": 50.0, "output_price": 50.0},
    },
    "skill_tokens": {
        "skill_tokens": lambda: 30,
        "runner": ToldRunner(output=lambda n: f"line {n}"),
    },
    "wall_time": {"limits": Limits(wall_time_s=0.05), "runner": SlowRunner()},
    "repetition": {"limits": Limits(repeat=2), "runner": ToldRunner()},
}


@pytest.mark.parametrize("kind", REACHED)
def test_limit_gives_exactly_one_conclusion_without_tools(tmp_path, kind):
    """Whatever the limit: one last request, no tools on offer, its text is the answer."""
    count = {"wall_time": 1, "repetition": 3}.get(kind, 2)
    turns = [says(bash(n), usage=Usage(10, 5)) for n in range(1, count + 1)]
    opened = open_loop(tmp_path, *turns, says("so far so good"), **REACHED[kind])

    end = run(opened)

    purposes = [prompt.purpose for prompt in opened.model.prompts]
    assert purposes == ["turn"] * len(turns) + ["conclusion"]
    assert opened.model.prompts[-1].tools == ()
    assert (end.status, end.answer, end.limit.kind) == ("limit", "so far so good", kind)
    assert [event.kind for event in opened.of(LimitReached)] == [kind]
    assert opened.corridor.bodies("limit")[0]["kind"] == kind
    assert_each_call_is_answered_once_in_place(opened.messages)


@pytest.mark.parametrize("empty", [(), ("  \n",), (Thinking("hm", "test"),)])
def test_answer_of_nothing_is_asked_for_once_more(tmp_path, empty):
    """Text, call or reason: without any of them nobody knows whether the work is done."""
    opened = open_loop(tmp_path, says(*empty), says("done"))

    end = run(opened)

    assert (end.status, end.answer, end.turns) == ("done", "done", 2)
    assert opened.model.prompts[-1].messages[-1] == UserMessage((Text(NOTHING_SAID),))


def test_two_answers_of_nothing_in_a_row_fail_the_run(tmp_path):
    """With a reason that says it; one after each piece of work is none in a row."""
    turns = [says(), says(bash(1)), says(), says()]
    opened = open_loop(tmp_path, *turns, runner=ToldRunner())

    end = run(opened)

    assert (end.status, end.answer, end.turns) == ("failed", "", 4)
    assert "answered with nothing" in opened.of(ErrorRaised)[-1].message


def test_a_skills_tokens_are_those_of_one_run_under_it(tmp_path):
    """What was used before it was switched on, or for what was said before, is not its doing."""
    most = [None]
    answers = [says(str(n), usage=Usage(10, 5)) for n in range(4)]
    opened = open_loop(tmp_path, *answers, skill_tokens=lambda: most[0])
    ends = []
    for most[0] in (None, 20, 20, None):
        opened.store.append("message", encode_message(UserMessage((Text("go on"),))))
        ends.append(run(opened).status)

    assert ends == ["done"] * 4


NOTHING_LEFT = {
    "no money": (Limits(cost_usd=0.0), {}),
    "no tokens": (Limits(tokens=0), {}),
    "no steps": (Limits(steps=0), {}),
    "the day's money is spent": (Limits(cost_usd_per_day=5.0), {"today": lambda: 5.0}),
}


@pytest.mark.parametrize("case", NOTHING_LEFT)
def test_run_that_is_over_its_limit_before_it_begins_asks_nothing(tmp_path, case):
    """There is nothing to conclude, and a budget of 0 pays for no call."""
    limits, more = NOTHING_LEFT[case]
    opened = open_loop(tmp_path, says("never said"), limits=limits, **more)

    end = run(opened)

    assert opened.model.prompts == []
    assert (end.status, end.answer, end.turns) == ("limit", "", 0)
    assert [event.kind for event in opened.of(LimitReached)] == [end.limit.kind]
    assert opened.corridor.bodies("limit")[0]["kind"] == end.limit.kind


def test_conclusion_that_asks_for_tools_runs_none(tmp_path):
    """Its calls are closed, so that a resumed run is not told they may have run."""
    runner = ToldRunner()
    opened = open_loop(
        tmp_path, says(bash(1)), says("end", bash(2)), limits=Limits(steps=1), runner=runner
    )

    end = run(opened)

    assert (end.status, end.answer) == ("limit", "end")
    assert len(runner.batches) == 1
    assert [result.output for result in results(opened)[-1]] == [NO_TOOLS]


def test_equal_calls_with_other_results_are_no_repetition(tmp_path):
    """A test that is run again after an edit goes on."""
    turns = [says(bash(n)) for n in range(1, 6)]
    opened = open_loop(tmp_path, *turns, says("done"), **CHANGING, limits=Limits(repeat=2))

    assert run(opened).status == "done"


def test_wait_for_the_pace_can_be_interrupted(tmp_path):
    """A call that waits for the next minute has not run, and is closed all the same."""
    runner = ToldRunner("done")
    opened = open_loop(
        tmp_path,
        says(bash(1), bash(2)),
        says("later"),
        runner=runner,
        limits=Limits(tool_calls_per_minute=1, wall_time_s=0.05),
    )

    end = run(opened)

    assert end.limit.kind == "wall_time"
    assert [len(batch) for batch in runner.batches] == [1]
    assert [result.output for result in results(opened)[0]] == ["done", NOT_STARTED]


def test_two_calls_with_one_id_get_two(tmp_path):
    """Within a turn and against all turns before it."""
    opened = open_loop(
        tmp_path, says(bash(1), bash(1)), says(bash(1)), says("done"), box=ScriptedBox(HI)
    )

    run(opened)

    ids = [result.call for told in results(opened) for result in told]
    assert len(set(ids)) == 3
    assert_each_call_is_answered_once_in_place(opened.model.prompts[-1].messages)


def test_call_without_an_id_gets_one(tmp_path):
    """An empty id would be refused by every provider."""
    bare = raw_call("bash", '{"command": "echo hi"}')
    bare = type(bare)("", bare.name, bare.raw_arguments, bare.arguments)
    opened = open_loop(tmp_path, says(bare, bare), says("done"), box=ScriptedBox(HI))

    run(opened)

    assert [result.call for result in results(opened)[0]] == ["call_1", "call_2"]


def test_answer_of_thoughts_alone_stores_no_empty_text(tmp_path):
    """Neither the file nor a request holds an empty block."""
    opened = open_loop(tmp_path, says(Thinking("hm", "test"), ""), says("done"))

    assert run(opened).status == "done"
    thought = next(body for body in on_disk(opened) if body["role"] == "assistant")
    assert [part["type"] for part in thought["content"]] == ["thinking"]


def test_half_a_character_ends_no_run(tmp_path):
    """A model that cuts an emoji in two is stored and recorded with a visible mark."""
    opened = open_loop(tmp_path, says("so \ud83d"))

    assert run(opened).answer == "so \ufffd"
    assert on_disk(opened)[-1]["content"][0]["text"] == "so \ufffd"


def test_known_value_reaches_neither_events_nor_transcript_nor_answer(tmp_path):
    """Planted in text, thoughts, arguments and output, and streamed in pieces of seven."""
    command = f"echo {SECRET}"
    opened = open_loop(
        tmp_path,
        says(f"I use {SECRET} now", Thinking(f"hm {SECRET}", "test", "c2ln"), bash(1, command)),
        says(f"it was {SECRET}"),
        box=ScriptedBox({command: Reply(SECRET)}),
        known={"acme": SECRET},
    )

    end = run(opened)

    told = opened.corridor.everything_written() + opened.store.path.read_text() + repr(end)
    streamed = "".join(delta.text for delta in opened.of(MessageDelta) if delta.kind == "text")
    assert SECRET not in told
    assert streamed.startswith("I use [redacted:acme:")
    assert end.answer.startswith("it was [redacted:acme:")


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ({}, None),
        ({"input_price": 1.0}, None),
        ({"input_price": 1.0, "output_price": 2.0}, 0.00003),
    ],
)
def test_cost_is_the_sum_or_unknown(tmp_path, prices, cost):
    """A sum that leaves a call out would be a lie: one unknown call makes it None for good."""
    opened = open_loop(
        tmp_path,
        says(bash(), usage=Usage(input=10, output=5)),
        says("done", usage=Usage(input=10)),
        box=ScriptedBox(HI),
        prices=prices,
    )

    assert run(opened).cost_usd == pytest.approx(cost)


def test_unanswered_ask_under_stop_ends_the_run_resumably(tmp_path):
    """The calls wait on disk, and are the first thing that a resumed run does."""
    opened = open_loop(
        tmp_path,
        says(bash(1), bash(2)),
        box=ScriptedBox(HI),
        evaluate=verdict("ask"),
        confirmer=NobodyConfirmer(),
        stop=True,
    )

    end = run(opened)

    assert (end.status, end.waiting_for.call) == ("needs_approval", "call_1")
    assert_each_call_is_answered_once_in_place(opened.messages)
    transcript = StoredTranscript(opened.store)
    assert [held.id for held in transcript.take_up()] == ["call_1", "call_2"]
    # Once taken up they may have run: a second resume must not run them again.
    assert transcript.take_up() == ()


def test_calls_that_waited_run_before_the_model_is_asked(tmp_path):
    """What ran before has its result; what waited runs now, and the model sees all of it."""
    opened = open_loop(
        tmp_path, says("seen"), box=ScriptedBox(HI), evaluate=verdict("allow"), stop=True
    )
    transcript = StoredTranscript(opened.store)
    transcript.add(says(bash(1), bash(2)))
    transcript.add(ToolMessage((ToolResult(CallId("call_1"), "bash", "before"),)))
    transcript.hold([bash(2)])
    transcript.add(UserMessage((Text("go on"),)))

    end = run(opened)

    assert (end.status, end.answer) == ("done", "seen")
    told = [m for m in opened.model.prompts[0].messages if isinstance(m, ToolMessage)]
    assert [(r.call, r.output) for r in told[0].results] == [("call_1", "before"), ("call_2", "hi")]
    assert_each_call_is_answered_once_in_place(opened.messages)


def test_call_that_waited_under_an_id_used_before_is_run(tmp_path):
    """A file may hold one id twice: the yes is for the newer call, and its result is told there."""
    opened = open_loop(
        tmp_path, says("seen"), box=ScriptedBox(HI), evaluate=verdict("allow"), stop=True
    )
    transcript = StoredTranscript(opened.store)
    transcript.add(says(bash(1)))
    transcript.add(ToolMessage((ToolResult(CallId("call_1"), "bash", "before"),)))
    transcript.add(says(bash(1)))
    transcript.hold([bash(1)])

    assert run(opened).answer == "seen"
    assert [[r.output for r in told] for told in results(opened)] == [["before"], ["hi"]]
    assert_each_call_is_answered_once_in_place(opened.model.prompts[0].messages)


def test_calls_that_wait_again_stay_waiting(tmp_path):
    """Nobody has answered yet: the run stops where it stood, without asking the model."""
    opened = open_loop(
        tmp_path,
        box=ScriptedBox(HI),
        evaluate=verdict("ask"),
        confirmer=NobodyConfirmer(),
        stop=True,
    )
    transcript = StoredTranscript(opened.store)
    transcript.add(says(bash(1)))
    transcript.hold([bash(1)])

    assert run(opened).status == "needs_approval"
    assert [held.id for held in StoredTranscript(opened.store).take_up()] == ["call_1"]


def test_model_that_fails_leaves_no_half_message(tmp_path):
    """The error goes up; the conversation ends with the last whole message."""
    opened = open_loop(
        tmp_path, says(bash()), ModelError("down", kind="server"), box=ScriptedBox(HI)
    )

    with pytest.raises(ModelError):
        run(opened)

    assert [body["role"] for body in on_disk(opened)] == ["user", "assistant", "tool"]


def test_turn_end_tells_usage_and_sum(tmp_path):
    """Cached tokens count."""
    opened = open_loop(
        tmp_path,
        says(bash(), usage=Usage(10, 5)),
        says("done", usage=Usage(1, 1, 20, 3)),
        box=ScriptedBox(HI),
    )

    run(opened)

    ends = opened.of(TurnEnd)
    assert [(end.turn, end.stop_reason) for end in ends] == [(1, "tool_use"), (2, "end_turn")]
    assert [end.cumulative_tokens for end in ends] == [15, 40]
    assert ends[1].usage == {"input": 1, "output": 1, "cache_read": 20, "cache_write": 3}


def test_answer_that_promises_calls_and_has_none_is_no_normal_end(tmp_path):
    """A provider that lost the calls on the way does not make the work done."""
    opened = open_loop(tmp_path, says("I will now", stop="tool_use"))

    assert run(opened).status == "failed"


class Lightening(WholeConversation):
    """A context that can be made lighter so many times."""

    times = 0

    async def lighten(self, speech):  # noqa: ARG002 - the Context's form
        self.times -= 1
        return self.times >= 0


@pytest.mark.case("session-overflow-08")
@pytest.mark.parametrize(("times", "asked"), [(0, 1), (1, 2), (2, 3)])
def test_request_that_is_too_large_is_sent_again_while_it_gets_lighter(tmp_path, times, asked):
    """Then the failure is told, and nothing goes round for ever."""
    context = Lightening(tuple, cache_key="k")
    context.times = times
    refused = [ModelError("413", kind="too_large", status=413)] * 4
    opened = open_loop(tmp_path, *refused, context=context)
    with pytest.raises(ModelError, match="413"):
        run(opened)

    assert len(opened.model.prompts) == asked


def test_request_that_was_made_lighter_is_answered(tmp_path):
    context = Lightening(tuple, cache_key="k")
    context.times = 1
    opened = open_loop(tmp_path, ModelError("413", kind="too_large"), says("ok"), context=context)

    assert run(opened).answer == "ok"
