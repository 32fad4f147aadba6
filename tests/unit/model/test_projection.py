import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.call_ids import MAX_LENGTH, PORTABLE
from orchestrator.model.client import ModelInfo
from orchestrator.model.projection import (
    NO_OUTPUT,
    NO_RESULT,
    NO_TEXT,
    argument_object,
    argument_text,
    project,
    valid,
)
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from tests.support.model_history import asked, call, damaged_history, result, said

INFO = ModelInfo("vendor", "model-1", 100_000, 4_096)


def answers(messages: tuple[Message, ...]) -> list[str]:
    return [item.output for m in messages if isinstance(m, ToolMessage) for item in m.results]


def hold(messages: tuple[Message, ...]) -> None:
    """Assert everything a projected conversation promises."""
    seen: set[CallId] = set()
    for position, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            ids = [item.id for item in message.tool_calls]
            assert all(PORTABLE.fullmatch(item) and len(item) <= MAX_LENGTH for item in ids)
            assert not seen & set(ids)
            assert len(set(ids)) == len(ids)
            seen |= set(ids)
            if ids:
                following = messages[position + 1]
                assert isinstance(following, ToolMessage)
                assert [item.call for item in following.results] == ids
                assert all(item.output.strip() or item.images for item in following.results)
            assert any(not isinstance(part, Thinking) for part in message.content)
        elif isinstance(message, ToolMessage):
            before = messages[position - 1]
            assert isinstance(before, AssistantMessage)
            assert before.tool_calls
        else:
            assert message.content
        assert all(
            part.text.strip() for part in getattr(message, "content", ()) if isinstance(part, Text)
        )


IDS = st.sampled_from(["", "a", "b", "call|x", "y" * 70])
PARTS = st.one_of(
    st.builds(Text, st.sampled_from(["", " ", "hello", "\ud83d"])),
    st.builds(Thinking, st.just("hm"), st.sampled_from(["vendor", "other"]), st.just("sig")),
    st.builds(call, IDS, st.sampled_from(["{}", "", '{"a"', "[1]", "null"])),
)
MESSAGES = st.one_of(
    st.builds(lambda texts: asked(*texts), st.lists(st.sampled_from(["", "hi"]), max_size=2)),
    st.builds(lambda parts: said(*parts), st.lists(PARTS, max_size=4)),
    st.builds(
        lambda ids: ToolMessage(tuple(result(item, "out") for item in ids)),
        st.lists(IDS, max_size=3),
    ),
)


@given(st.lists(MESSAGES, max_size=8))
def test_any_history_becomes_one_that_holds(history: list[Message]) -> None:
    """No order of messages, however broken, is refused by a provider."""
    hold(project(history, INFO))


def test_damaged_history_holds() -> None:
    """The worst conversation we know is mended."""
    hold(project(damaged_history("vendor"), INFO))


def test_sound_history_is_left_as_it_is() -> None:
    """Mending changes nothing that is whole."""
    history = (asked("a"), said(Text("b"), call("c1")), ToolMessage((result("c1", "d"),)))
    assert project(history, INFO) == history


def test_call_without_result_is_answered_for_it() -> None:
    """The model learns that a call was interrupted."""
    projected = project((said(call("c1")), asked("again")), INFO)
    assert answers(projected) == [NO_RESULT]
    assert isinstance(projected[2], UserMessage)


def test_late_and_unordered_results_come_right_after_their_calls() -> None:
    """Results stand in the order of the calls, before anything the person said meanwhile."""
    history = (
        said(call("c1"), call("c2")),
        asked("hurry"),
        ToolMessage((result("c2", "two"),)),
        ToolMessage((result("c1", "one"),)),
    )
    assert answers(project(history, INFO)) == ["one", "two"]


def test_results_of_twin_calls_go_to_each_in_order() -> None:
    """Two calls of one id still have a result each."""
    history = (said(call("t"), call("t")), ToolMessage((result("t", "one"), result("t", "two"))))
    assert answers(project(history, INFO)) == ["one", "two"]


def test_result_before_its_call_is_not_its_result() -> None:
    """An earlier turn's result does not answer a later call of the same id."""
    history = (ToolMessage((result("c1", "old"),)), said(call("c1")))
    assert answers(project(history, INFO)) == [NO_RESULT]


def test_silent_command_has_an_output() -> None:
    """No block is empty."""
    history = (said(call("c1")), ToolMessage((result("c1", " \n"),)))
    assert answers(project(history, INFO)) == [NO_OUTPUT]


def test_blank_question_is_still_a_question() -> None:
    """A turn is never lost for being blank."""
    assert project((asked(" "),), INFO) == (UserMessage((Text(NO_TEXT),)),)


def test_thoughts_go_back_to_their_own_model_alone() -> None:
    """No provider sees another's signature, and no unsigned thought is sent."""
    parts = (
        Thinking("mine", "vendor", "sig"),
        Thinking("unsigned", "vendor", None),
        Thinking("foreign", "other", "sig"),
        Text("answer"),
    )
    (kept,) = project((AssistantMessage(parts, "end_turn", model=INFO.id),), INFO)
    assert isinstance(kept, AssistantMessage)
    assert kept.content == (parts[0], parts[3])
    (other,) = project((AssistantMessage(parts, "end_turn", model="vendor/model-2"),), INFO)
    assert isinstance(other, AssistantMessage)
    assert other.content == (parts[3],)


def test_turn_of_thoughts_alone_is_left_out() -> None:
    """Vendors refuse a turn that only thinks."""
    assert project((said(Thinking("hm", "vendor", "sig"), Text(" ")),), INFO) == ()


def test_half_a_character_is_marked() -> None:
    """A lone surrogate becomes visible; a pair and all other text stay."""
    assert valid("a\ud83d") == "a\ufffd"
    assert valid("\ud83d\ude00!\ud83d") == "\U0001f600!\ufffd"
    assert valid("\ufeffé") == "\ufeffé"


def test_arguments_are_always_an_object() -> None:
    """Whatever the model sent, what goes back is JSON that any server reads."""
    assert argument_object(call("c", '{"a": 1}')) == {"a": 1}
    assert argument_object(call("c", "")) == {}
    assert argument_object(call("c", '{"a')) == {"malformed_arguments": '{"a'}
    assert argument_object(call("c", "[1]")) == {"malformed_arguments": "[1]"}
    assert argument_object(call("c", '{"a": "\\ud83d"}')) == {"a": "\ufffd"}
    deep = '{"a":' * 200 + "1" + "}" * 200
    assert argument_object(call("c", deep)) == {"malformed_arguments": deep}
    text = argument_text(call("c", '{"a": NaN, "b": -Infinity}'))
    assert json.loads(text, parse_constant=lambda _: 1 / 0) == {"a": "NaN", "b": "-Infinity"}


def test_results_that_belong_to_no_call_are_left_out() -> None:
    """A result alone would be refused."""
    history = (asked("a"), ToolMessage((ToolResult(CallId("x"), "bash", "lost"),)))
    assert project(history, INFO) == (asked("a"),)


def test_marks_go_back_to_the_model_that_gave_them_alone() -> None:
    """A text's and a call's mark are opaque to every other model."""
    marked = AssistantMessage(
        (Text("t", "c2ln"), ToolCall(CallId("c1"), "bash", "{}", {}, "c2ln")),
        "tool_use",
        model=INFO.id,
    )
    own, _ = project((marked,), INFO)
    other, _ = project((replace(marked, model="somebody/else"),), INFO)
    assert [part.signature for part in own.content] == ["c2ln", "c2ln"]
    assert [part.signature for part in other.content] == [None, None]
