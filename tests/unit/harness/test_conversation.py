"""A session that is asked many times, in one real box."""

from dataclasses import replace
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.errors import ContextError, UsageError
from orchestrator.harness.conversation import Conversation, open_conversation
from orchestrator.schema.event import (
    ErrorRaised,
    MessageEnd,
    SessionEnd,
    SessionStart,
    ToolEnd,
    ToolStart,
)
from orchestrator.schema.head_event import CompactionEnd, CompactionStart, SkillChange
from orchestrator.schema.message import UserMessage

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]


def bash(command):
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


def talk(options, paths, front, *, about):
    """Open a conversation, have ``about`` talk in it, and return how it ended."""

    async def main():
        async with open_conversation(options, Settings(), paths, front=front) as conversation:
            await about(conversation)
        return conversation.end

    return anyio.run(main)


def test_one_box_serves_everything_that_is_said(options, paths, front):
    """What the first answer left in the box is there for the second; one start, one end."""
    said = []

    async def about(conversation):
        said.append(await conversation.say("keep a word"))
        said.append(await conversation.say("which word?"))

    turns = (
        bash("echo velvet > /tmp/word"),
        {"text": "kept"},
        bash("cat /tmp/word"),
        {"text": "!"},
    )
    end = talk(options(*turns, prompt=None), paths, front, about=about)

    assert [reply.result.answer for reply in said] == ["kept", "!"]
    assert "velvet" in front.of(ToolEnd)[1].output
    assert (len(front.of(SessionStart)), len(front.of(SessionEnd))) == (1, 1)
    assert (end.status, end.exit_code) == ("done", 0)
    assert front.of(SessionEnd)[0].turns == 4


def test_aborted_answer_leaves_a_conversation_to_go_on_with(options, paths, front):
    """The command ends with it, its call is answered, and the next thing said is heard."""
    said = []

    async def about(conversation):
        front.watch = lambda event: isinstance(event, ToolStart) and conversation.abort()
        said.append(await conversation.say("wait"))
        front.watch = lambda _: None
        said.append(await conversation.say("never mind"))
        assert not conversation.abort()

    end = talk(
        options(bash("sleep 60"), {"text": "all right"}, prompt=None), paths, front, about=about
    )

    assert [(reply.aborted, reply.result is None) for reply in said] == [
        (True, True),
        (False, False),
    ]
    assert said[1].result.answer == "all right"
    assert end.status == "done"


def test_model_that_fails_is_told_and_may_be_asked_again(options, paths, front):
    """A refusal ends the answer, not the conversation."""
    refused = {"error": {"status": 400, "type": "invalid_request_error"}}
    said = []

    async def about(conversation):
        said.append(await conversation.say("first"))
        said.append(await conversation.say("second"))

    end = talk(options(refused, {"text": "now"}, prompt=None), paths, front, about=about)

    assert said[0].error is not None
    assert said[1].result.answer == "now"
    assert front.of(ErrorRaised)[0].where == "ModelError"
    assert end.exit_code == 0


def test_branch_that_is_left_is_summarised_as_the_person_wants(options, paths, front):
    """The shipped text asks for it, and the summary is told at the place that is gone to."""
    instructions, last = [], []

    async def about(conversation):
        session = conversation.session

        def render(name, arguments):
            instructions.append(session.render(name, arguments))
            return instructions[-1]

        await conversation.say("first")
        tree = session.record.store.tree
        here = tree.leaf
        await conversation.say("a wrong way")
        here_again = Conversation(replace(session, render=render))
        await here_again.go_to(here, summarise=True, focus="the failing test")
        last.append(tree.path()[-1])

    turns = ({"text": "one"}, {"text": "two"})
    told = options(*turns, prompt=None, top={"summaries": ["it failed"]})
    talk(told, paths, front, about=about)

    assert "The user asks for this above all: the failing test" in instructions[0]
    assert last[0].type == "branch_summary"
    assert (last[0].body["summary"], last[0].body["focus"]) == ("it failed", "the failing test")


def test_summary_that_the_person_asked_for_can_be_stopped(options, paths, front):
    """Esc during /compact: nothing is changed, and the conversation goes on."""
    said, left = [], []

    async def about(conversation):
        for number in range(4):
            await conversation.say(f"{number} " + "word " * 1_000)
        front.watch = lambda event: isinstance(event, CompactionStart) and conversation.abort()
        with pytest.raises(ContextError, match="was stopped; nothing is changed"):
            await conversation.compact("the tests")
        left.append(conversation.abort())
        said.append(await conversation.say("go on"))
        front.watch = lambda _: None
        said.append(await conversation.compact("the tests"))

    turns = [{"text": f"answer {number}"} for number in range(5)]
    model = {"name": "small", "context_window": 12_000}
    top = {"summaries": ["lost", "kept"], "model": model, "pace_s": 0.01}
    end = talk(options(*turns, prompt=None, top=top), paths, front, about=about)

    assert left == [False]
    assert (said[0].result.answer, said[1].summary) == ("answer 4", "kept")
    assert [event.problem for event in front.of(CompactionEnd)] == [
        "stopped; nothing is changed",
        "",
    ]
    assert end.exit_code == 0


def test_what_is_said_while_it_is_summarised_is_told_afterwards(options, paths, front):
    """A compaction between turns takes its time; the person's words wait and are not lost."""
    said = []

    async def about(conversation):
        front.watch = lambda event: (
            isinstance(event, CompactionStart) and conversation.steer("late")
        )
        while not front.of(CompactionStart):
            said.append(await conversation.say(f"{len(said)} " + "word " * 1_000))
        told = conversation.session.record.store.messages()
        said.extend(m.content[-1].text for m in told if isinstance(m, UserMessage))

    turns = [{"text": f"answer {number}"} for number in range(20)]
    top = {"summaries": ["kept"] * 3, "model": {"name": "small", "context_window": 12_000}}
    talk(options(*turns, prompt=None, top=top), paths, front, about=about)

    replies = [reply.result.turns for reply in said if not isinstance(reply, str)]
    assert replies == [1] * (len(replies) - 1) + [2]
    assert said[-1] == "late"


def test_what_a_bug_interrupts_still_ends_in_order(options, paths, front):
    """Nobody foresaw it: it is raised, and the session has its last event all the same."""

    async def about(_):
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup):
        talk(options({"text": "never"}, prompt=None), paths, front, about=about)

    assert front.of(SessionEnd)[0].status == "failed"


def test_resumed_conversation_is_told_once_of_its_new_box(options, paths, front):
    """And only with what the person says next: opening and leaving again adds nothing."""
    first = talk(options({"text": "one"}, prompt=None), paths, front, about=partial(_say, "a"))
    again = options({"text": "one"}, {"text": "two"}, {"text": "three"}, prompt=None)
    resumed = {"resume": first.session}
    talk(_with(again, **resumed), paths, front, about=_nothing)
    seen = []

    async def about(conversation):
        await conversation.say("b")
        await conversation.say("c")
        seen.extend(conversation.session.record.store.messages())

    talk(_with(again, **resumed), paths, front, about=about)

    users = [m for m in seen if type(m).__name__ == "UserMessage"]
    assert [len(message.content) for message in users] == [1, 2, 1]
    assert "fresh box" in users[1].content[0].text


async def _say(text, conversation):
    await conversation.say(text)


async def _nothing(_):
    pass


def _with(options, **more):
    return replace(options, **more)


@pytest.mark.parametrize("how", ["done", "aborted", "failed"])
def test_skill_that_words_chose_is_on_until_the_answer_is_over(options, paths, front, how):
    """However it ends: nothing of it holds for what is said next."""
    seen = []
    turns = {
        "done": [bash("git push"), {"text": "a"}],
        "aborted": [bash("sleep 60")],
        "failed": [{"error": {"status": 400, "type": "invalid_request_error"}}],
    }

    async def about(conversation):
        skills = conversation.session.skills
        before = conversation.session.speech(), list(skills.tools), skills.votes.layers

        def watch(event):
            if isinstance(event, ToolStart):
                seen.append(skills.name)
                if how == "aborted":
                    conversation.abort()

        front.watch = watch
        await conversation.say("write a commit message")
        front.watch = lambda _: None
        seen.append(skills.name)
        after = conversation.session.speech(), list(skills.tools), skills.votes.layers
        assert after == before

    talk(options(*turns[how], prompt=None), paths, front, about=about)

    assert seen == (["commit-message"] if how != "failed" else []) + [None]
    changes = [(event.skill, event.by) for event in front.of(SkillChange)]
    assert changes == [("commit-message", "trigger"), (None, "trigger")]
    if how == "done":
        assert "publishes nothing" in front.of(ToolEnd)[0].output


def test_skill_is_not_switched_while_the_model_is_at_work(options, paths, front):
    said = []

    async def about(conversation):
        async def switch():
            try:
                await conversation.use_skill("debug")
            except UsageError as error:
                said.append(error.message)
            conversation.abort()

        async with anyio.create_task_group() as group:
            front.watch = lambda event: isinstance(event, ToolStart) and group.start_soon(switch)
            await conversation.say("wait")
        said.append(conversation.session.skills.name)

    talk(options(bash("sleep 60"), prompt=None), paths, front, about=about)

    assert said == ["the model is at work", None]


@pytest.mark.case("session-compact-04")
def test_compaction_is_not_begun_while_a_tool_runs(options, paths, front):
    """It would come between the call and its result."""
    said, kinds = [], []

    async def about(conversation):
        async def compact():
            try:
                await conversation.compact()
            except UsageError as error:
                said.append(error.message)

        async with anyio.create_task_group() as group:
            front.watch = lambda event: isinstance(event, ToolStart) and group.start_soon(compact)
            await conversation.say("look")
        kinds.extend(entry.type for entry in conversation.session.record.store.tree.entries)

    talk(options(bash("sleep 1"), {"text": "done"}, prompt=None), paths, front, about=about)

    assert said == ["the model is at work"]
    assert "compaction" not in kinds


def test_change_between_an_answer_and_its_calls_waits_for_their_results(options, paths, front):
    """The room for the results is reckoned meanwhile, and ends no turn."""
    said = []

    async def about(conversation):
        models = conversation.session.models

        def watch(event):
            if isinstance(event, MessageEnd) and models.thinking != "high":
                models.think("high", at_work=True)

        front.watch = watch
        await conversation.say("begin")
        said.extend(conversation.session.record.store.tree.path())

    talk(options(bash("true"), {"text": "done"}, prompt=None), paths, front, about=about)

    kinds = [e.body.get("role", e.type) for e in said if e.type in {"message", "model_change"}]
    assert kinds == ["model_change", "user", "assistant", "tool", "model_change", "assistant"]


def test_model_that_is_switched_at_work_answers_from_the_next_request_on(
    options, paths, front, tmp_path
):
    """The change stands behind the results of the calls that ran, and so does one of thinking."""
    other = tmp_path / "other.yaml"
    other.write_text(
        "{version: 1, model: {name: other}, turns: [{text: never}, {text: from the other}]}"
    )
    said = []

    async def about(conversation):
        models = conversation.session.models
        async with anyio.create_task_group() as group:

            async def say():
                said.append(await conversation.say("begin"))

            group.start_soon(say)
            for _ in range(1500):
                if front.of(ToolStart):
                    break
                await anyio.sleep(0.02)
            await models.switch(f"scripted:{other}", at_work=True)
            models.think("high", at_work=True)
            assert models.info.name == "scripted-1"
        said.append(list(conversation.session.record.store.tree.path()))

    talk(
        options(bash("sleep 1"), {"text": "from the first"}, prompt=None), paths, front, about=about
    )

    reply, entries = said
    assert reply.result.answer == "from the other"
    kinds = [e.body.get("role", e.type) for e in entries if e.type in {"message", "model_change"}]
    assert kinds == [
        *("model_change", "user", "assistant", "tool"),
        *("model_change", "model_change", "assistant"),
    ]
