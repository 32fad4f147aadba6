"""The corpus on the loop: what each next request holds, looked at as every API is sent it."""

from __future__ import annotations

import json
import resource

import anyio
import anyio.lowlevel
import pytest

from orchestrator.dispatch.batch import INTERRUPTED
from orchestrator.errors import SessionError
from orchestrator.loop.words import CUT_CALL
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import Text, Thinking, ToolCall, ToolMessage, UserMessage
from orchestrator.sessions.store import SessionStore
from tests.support.corridor import call, raw_call, verdict
from tests.support.loops import open_loop, says
from tests.support.sending import assert_any_api_takes, request_to

FILES = {f"/workspace/{name}": f"text of {name}" for name in "abc"}


def reads(names="abc"):
    return [call("read", n, path=name) for n, name in enumerate(names, 1)]


def run(opened):
    return anyio.run(opened.loop.run)


def request(opened):
    """Return the last request's messages; every API would take them."""
    messages = opened.model.prompts[-1].messages
    assert_any_api_takes(messages)
    return messages


def told(opened):
    """Return what the last results of the last request say."""
    results = [m for m in request(opened) if isinstance(m, ToolMessage)][-1].results
    return [(result.call, result.output, result.is_error) for result in results]


class Ordered(ScriptedBox):
    """Ends reads in the reverse order of their beginning, and says something meanwhile."""

    def __init__(self, *, meanwhile=lambda: None):
        super().__init__(files=FILES)
        self.ended, self.meanwhile, self.released = [], meanwhile, anyio.Event()

    async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
        if request.path.endswith("a"):
            await self.released.wait()
        self.meanwhile()
        self.ended.append(request.path[-1])
        self.released.set()
        return await super().execute(request, on_output=on_output)


@pytest.mark.case("session-loop-01")
def test_call_that_was_aborted_is_closed_before_the_next_message(tmp_path):
    begun = anyio.Event()

    class Endless(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            begun.set()
            await anyio.sleep_forever()

    opened = open_loop(tmp_path, says(*reads("a")), says("fine"), box=Endless(files=FILES))

    async def abort_and_go_on():
        async with anyio.create_task_group() as group:
            group.start_soon(opened.loop.run)
            await begun.wait()
            group.cancel_scope.cancel()
        opened.store.append("message", {"role": "user", "content": [{"type": "text", "text": "x"}]})
        return await opened.loop.run()

    assert anyio.run(abort_and_go_on).answer == "fine"
    assert told(opened) == [("call_1", INTERRUPTED, True)]
    assert request(opened)[-1] == UserMessage((Text("x"),))


@pytest.mark.case("session-loop-01")
@pytest.mark.parametrize("steps", range(0, 48, 3))
def test_abort_at_any_step_leaves_a_conversation_that_goes_on(tmp_path, steps):
    """While a model answers or is to be asked, between calls, and while they run."""

    class Stepping(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            await pause()
            return await super().execute(request, on_output=on_output)

    answers = [
        says("look", *reads()),
        says(call("bash", 4, command="true"), call("write", 5, path="d", content="x")),
        says("half", stop="max_tokens"),
        says("done"),
    ]
    box = Stepping({"true": Reply("")}, files=FILES)
    opened = open_loop(tmp_path, *answers, box=box)

    async def pause():
        for _ in range(3):
            await anyio.lowlevel.checkpoint()

    async def stop(scope):
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        scope.cancel()

    async def abort_and_go_on():
        async with anyio.create_task_group() as group:
            group.start_soon(stop, group.cancel_scope)
            await opened.loop.run()
        opened.store.append("message", {"role": "user", "content": [{"type": "text", "text": "x"}]})
        opened.model.answers = [says("fine")]
        return await opened.loop.run()

    assert anyio.run(abort_and_go_on).answer == "fine"
    assert request(opened)[-1] == UserMessage((Text("x"),))
    kinds = [type(event).__name__ for event in opened.events]
    assert kinds.count("ToolStart") == kinds.count("ToolEnd")
    assert kinds.count("TurnStart") == kinds.count("TurnEnd")


@pytest.mark.case("session-loop-03")
def test_calls_that_end_in_reverse_are_answered_in_one_message(tmp_path):
    box = Ordered()
    opened = open_loop(tmp_path, says(*reads("ab")), says("done"), box=box)
    run(opened)

    assert box.ended == ["b", "a"]
    asked, answered = request_to("anthropic", request(opened))["messages"][-2:]
    calls = [part["id"] for part in asked["content"] if part["type"] == "tool_use"]
    assert [part["type"] for part in answered["content"]] == ["tool_result"] * 2
    assert [part["tool_use_id"] for part in answered["content"]] == calls
    assert [output for _, output, _ in told(opened)] == ["text of a", "text of b"]


@pytest.mark.case("session-loop-04")
def test_what_is_said_while_tools_run_comes_after_all_results(tmp_path):
    """Said when one of two has ended and the other has not."""
    box = Ordered(meanwhile=lambda: box.ended or opened.queue.steer("use the other file"))
    opened = open_loop(tmp_path, says(*reads("ab")), says("done"), box=box)
    run(opened)

    *_, results, said = request(opened)
    assert [result.output for result in results.results] == ["text of a", "text of b"]
    assert said == UserMessage((Text("use the other file"),))
    chat = request_to("openai-chat", request(opened))["messages"]
    assert [message["role"] for message in chat[-4:]] == ["assistant", "tool", "tool", "user"]
    kinds = [
        part["type"]
        for message in request_to("anthropic", request(opened))["messages"][-2:]
        for part in message["content"]
    ]
    assert kinds == ["tool_result", "tool_result", "text"]


@pytest.mark.case("session-loop-06")
def test_refused_call_among_others_has_its_own_result(tmp_path):
    def decide(request, tool):
        return verdict("deny" if request.path.endswith("b") else "allow")(request, tool)

    opened = open_loop(
        tmp_path, says(*reads()), says("done"), box=ScriptedBox(files=FILES), evaluate=decide
    )
    run(opened)

    first, second, third = told(opened)
    assert first == ("call_1", "text of a", False)
    assert third == ("call_3", "text of c", False)
    assert (second[0], second[2]) == ("call_2", True)
    assert second[1].startswith("Refused by policy")
    sent = request_to("anthropic", request(opened))["messages"][-1]["content"]
    assert [part.get("is_error", False) for part in sent] == [False, True, False]


@pytest.mark.case("session-loop-07")
@pytest.mark.parametrize(
    "raw", ['{"path": "a", "content": "half', '{"path": "a"}', "", '{"path": "a", "content": "h"}']
)
def test_call_of_an_answer_cut_at_its_limit_is_not_run(tmp_path, raw):
    """Also where what came of it happens to parse."""
    box = ScriptedBox(files=FILES)
    cut = says("I write", raw_call("write", raw), stop="max_tokens")
    opened = open_loop(tmp_path, cut, says("done"), box=box)

    assert run(opened).status == "done"
    assert told(opened) == [("call_1", CUT_CALL, True)]
    assert (box.requests, box.files) == ([], FILES)


@pytest.mark.case("session-loop-11")
@pytest.mark.parametrize(
    "raw", ['{"command": "ls', "ls -la", "{'command': 'ls'}", "{}}", "\\", "{"]
)
def test_arguments_that_are_no_json_are_an_error_for_the_model(tmp_path, raw):
    opened = open_loop(tmp_path, says(raw_call("bash", raw)), says("sorry"), box=ScriptedBox())

    assert run(opened).answer == "sorry"
    ((_, output, is_error),) = told(opened)
    assert is_error
    assert "JSON object" in output


@pytest.mark.case("session-loop-12")
@pytest.mark.parametrize("raw", ["", " \n"])
def test_no_arguments_are_an_empty_object(tmp_path, raw):
    """For a tool that needs none."""
    opened = open_loop(
        tmp_path, says(raw_call("ls", raw)), says("done"), box=ScriptedBox(files=FILES)
    )
    run(opened)

    ((_, output, is_error),) = told(opened)
    assert not is_error
    assert output.split()[::3] == ["a", "b", "c"]
    (sent,) = request_to("openai-chat", request(opened))["messages"][-2]["tool_calls"]
    assert sent["function"]["arguments"] == "{}"


@pytest.mark.case("session-loop-13")
@pytest.mark.parametrize("raw", ["null", "[]", '["ls"]', '"ls"', "3", "1e999", "true", "NaN"])
@pytest.mark.parametrize("tool", ["bash", "ls"])
def test_arguments_of_another_kind_are_an_error_for_the_model(tmp_path, tool, raw):
    """Also for a tool that needs none: what was meant is not known."""
    box = ScriptedBox(files=FILES)
    opened = open_loop(tmp_path, says(raw_call(tool, raw)), says("sorry"), box=box)

    assert run(opened).answer == "sorry"
    ((_, output, is_error),) = told(opened)
    assert is_error
    assert "JSON object" in output
    assert "Traceback" not in output
    assert box.requests == []


@pytest.mark.case("session-loop-16")
def test_two_calls_with_one_id_are_stored_under_two(tmp_path):
    twins = [call("read", 1, path="a"), call("read", 1, path="b")]
    opened = open_loop(tmp_path, says(*twins), says("done"), box=ScriptedBox(files=FILES))
    run(opened)

    stored = [json.loads(line) for line in opened.store.path.read_bytes().splitlines()[1:]]
    ids = [part["id"] for part in stored[1]["body"]["content"]]
    assert len(set(ids)) == 2
    assert told(opened) == [(ids[0], "text of a", False), (ids[1], "text of b", False)]


@pytest.mark.case("session-loop-17")
def test_call_without_an_id_is_given_one(tmp_path):
    nameless = [
        ToolCall(CallId(""), "read", one.raw_arguments, one.arguments) for one in reads("ab")
    ]
    opened = open_loop(tmp_path, says(*nameless), says("done"), box=ScriptedBox(files=FILES))
    run(opened)

    assert [(name, out) for name, out, _ in told(opened)] == [
        ("call_1", "text of a"),
        ("call_2", "text of b"),
    ]


@pytest.mark.case("session-loop-20")
@pytest.mark.parametrize(
    "parts", [(Thinking("hm", "test"),), (Thinking("hm", "test"), ""), ("",), ()]
)
def test_answer_of_thoughts_alone_is_neither_stored_nor_sent_as_an_empty_text(tmp_path, parts):
    """It is asked for once more, with a word of why."""
    opened = open_loop(tmp_path, says(*parts), says("yes"))

    assert run(opened).answer == "yes"
    assert b'"text":""' not in opened.store.path.read_bytes()
    sent = request_to("anthropic", request(opened))["messages"]
    assert [message["role"] for message in sent] == ["user", "user"]


@pytest.mark.case("session-loop-22")
def test_command_that_prints_nothing_has_a_result(tmp_path):
    box = ScriptedBox({"true": Reply("")})
    opened = open_loop(tmp_path, says(call("bash", command="true")), says("done"), box=box)
    run(opened)

    assert told(opened) == [("call_1", "(no output)", False)]
    (sent,) = request_to("anthropic", request(opened))["messages"][-1]["content"]
    assert sent["content"] == "(no output)"


@pytest.mark.case("session-jsonl-22")
def test_run_on_a_full_disk_stops_and_goes_on_with_all_it_had(tmp_path):
    """The failure is told at once; what the model had said is written when there is space."""
    opened = open_loop(tmp_path, says("first"), says("second"), box=ScriptedBox())
    long = {"role": "user", "content": [{"type": "text", "text": "x" * 20_000}]}
    opened.store.append("message", long)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (opened.store.path.stat().st_size + 7, hard))
    try:
        with pytest.raises(SessionError, match="cannot be written"):
            run(opened)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    opened.store.append("message", {"role": "user", "content": [{"type": "text", "text": "so?"}]})
    assert run(opened).answer == "second"
    opened.store.close()

    with SessionStore.open(opened.store.path) as again:
        said = [m.content[-1].text[:6] for m in again.messages()]
        assert said == ["do it", "xxxxxx", "first", "so?", "second"]
        assert again.warnings == []
