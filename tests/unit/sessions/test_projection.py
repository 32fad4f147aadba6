"""Whatever was stored, each call is answered once, right after its turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import INTERRUPTED, LEADS, NO_OUTPUT, project, repair

from .conftest import assistant, entry, result, tool, user


def summary(text: str, kind: str = "compaction") -> UserMessage:
    """Return what the model is told of a summary: apart from the person's own words."""
    return user(f"{LEADS[kind]}\n<summary>\n{text}\n</summary>")


def entries_of(*messages: Message) -> list[Entry]:
    return [
        entry(f"e{at}", f"e{at - 1}" if at else None, body=encode_message(message))
        for at, message in enumerate(messages)
    ]


def test_sound_history_stays_as_it_is() -> None:
    """Nothing is repaired that is whole."""
    history = (
        user("hi"),
        assistant("", "c1", "c2"),
        tool(result("c1"), result("c2")),
        assistant("bye"),
    )

    assert repair(history) == history


def test_call_without_result_is_answered_as_interrupted() -> None:
    """The model learns that the call may or may not have happened."""
    repaired = repair([user("hi"), assistant("", "c1")])

    (answer,) = repaired[2].results  # type: ignore[union-attr]
    assert answer == ToolResult("c1", "bash", INTERRUPTED, is_error=True)  # type: ignore[arg-type]
    assert "may or may not have taken effect" in answer.output


def test_results_come_in_the_order_of_the_calls_in_one_message() -> None:
    """Results may be stored one by one and in any order."""
    repaired = repair([assistant("", "c1", "c2", "c3"), tool(result("c3")), tool(result("c1"))])

    assert len(repaired) == 2
    answers = repaired[1].results  # type: ignore[union-attr]
    assert [answer.call for answer in answers] == ["c1", "c2", "c3"]
    assert [answer.is_error for answer in answers] == [False, True, False]


def test_text_between_call_and_result_comes_after_the_results() -> None:
    """What the person typed meanwhile keeps its place behind the results."""
    repaired = repair([assistant("", "c1"), user("stop"), tool(result("c1"))])

    assert repaired == (assistant("", "c1"), tool(result("c1")), user("stop"))


def test_result_that_came_after_the_next_turn_is_pulled_up() -> None:
    """A late result belongs to its call."""
    repaired = repair([assistant("", "c1"), assistant("next"), tool(result("c1"))])

    assert repaired == (assistant("", "c1"), tool(result("c1")), assistant("next"))


def test_double_and_stray_results_are_dropped() -> None:
    """The first result counts; one that nobody asked for does not."""
    history = [
        tool(result("x")),
        assistant("", "c1"),
        tool(result("c1"), result("c1", "again"), result("y")),
    ]

    assert repair(history) == (assistant("", "c1"), tool(result("c1")))


def test_id_used_twice_is_renamed_with_its_result() -> None:
    """Servers that count calls anew each turn do not confuse anyone."""
    history = [
        assistant("", "c1"),
        tool(result("c1", "one")),
        assistant("", "c1"),
        tool(result("c1", "two")),
    ]

    repaired = repair(history)

    assert repaired[2] == assistant("", "c1_2")
    assert repaired[3] == tool(result("c1_2", "two"))


def test_result_belongs_to_the_latest_call_of_its_id() -> None:
    """An interrupted call does not take the result of a later one."""
    repaired = repair([assistant("", "c1"), assistant("", "c1"), tool(result("c1"))])

    assert [message.results[0].is_error for message in repaired[1::2]] == [True, False]  # type: ignore[union-attr]


def test_two_calls_of_one_turn_with_the_same_id_both_get_an_answer() -> None:
    """Neither is lost, and the request is valid."""
    repaired = repair([assistant("", "c1", "c1"), tool(result("c1", "one"), result("c1", "two"))])

    assert repaired == (
        assistant("", "c1", "c1_2"),
        tool(result("c1", "one"), result("c1_2", "two")),
    )


def test_empty_id_gets_a_name() -> None:
    """A call must be nameable."""
    repaired = repair([assistant("", "", ""), tool(result("", "one"))])

    assert repaired[0] == assistant("", "call", "call_2")
    assert [answer.call for answer in repaired[1].results] == ["call", "call_2"]  # type: ignore[union-attr]


def test_empty_parts_and_messages_are_left_out() -> None:
    """No empty block is ever sent."""
    history = [
        UserMessage((Text(""),)),
        AssistantMessage((Text(""),), "end_turn"),
        AssistantMessage((Text(""), Thinking("why", "x")), "end_turn"),
        assistant("", "c1"),
        tool(result("c1", "")),
    ]

    assert repair(history) == (
        AssistantMessage((Thinking("why", "x"),), "end_turn"),
        assistant("", "c1"),
        tool(result("c1", NO_OUTPUT)),
    )


def test_result_of_only_a_picture_needs_no_words() -> None:
    """An image is an output."""
    picture = ToolResult("c1", "read", "", images=(Image("image/png", "AA=="),))  # type: ignore[arg-type]

    assert repair([assistant("", "c1"), tool(picture)])[1] == tool(picture)


def test_path_without_compaction_is_told_whole() -> None:
    """Entries that are no messages are not told."""
    path = [
        *entries_of(user("a"), assistant("b")),
        entry("l", "e1", type="label", body={"name": "x"}),
    ]

    assert project(path) == (user("a"), assistant("b"))


def test_compaction_stands_for_what_came_before_the_kept_part() -> None:
    """The summary comes first, then what was kept, then what followed."""
    before = entries_of(user("old"), assistant("older"), user("kept"))
    compaction = entry("k", "e2", type="compaction", body={"summary": "so far", "first_kept": "e2"})
    after = entry("n", "k", body=encode_message(assistant("new")))

    assert project([*before, compaction, after]) == (
        summary("so far"),
        user("kept"),
        assistant("new"),
    )


def test_older_compaction_inside_the_kept_part_counts_for_nothing() -> None:
    """It never stands between a call and its result."""
    call, answer = entries_of(assistant("", "c1"), tool(result("c1")))
    old = entry("k1", "e0", type="compaction", body={"summary": "old", "first_kept": None})
    new = entry("k2", "e1", type="compaction", body={"summary": "new", "first_kept": "e0"})

    assert project([call, old, answer, new]) == (
        summary("new"),
        assistant("", "c1"),
        tool(result("c1")),
    )


def test_compaction_that_kept_nothing_keeps_nothing() -> None:
    compaction = entry("k", "e0", type="compaction", body={"summary": "all", "first_kept": None})
    assert project([*entries_of(user("old")), compaction]) == (summary("all"),)


def test_compaction_whose_first_kept_entry_is_lost_keeps_everything() -> None:
    """A damaged line costs itself: what it left may well be what nobody summarised."""
    compaction = entry("k", "e0", type="compaction", body={"summary": "all", "first_kept": "gone"})
    assert project([*entries_of(user("old")), compaction]) == (summary("all"), user("old"))


def test_result_whose_call_was_summarised_is_dropped() -> None:
    """A cut in a bad place still gives a valid request."""
    path = entries_of(user("old"), assistant("", "c1"), tool(result("c1")), user("now"))
    compaction = entry("k", "e3", type="compaction", body={"summary": "so far", "first_kept": "e2"})

    assert project([*path, compaction]) == (summary("so far"), user("now"))


def test_branch_summary_is_told_as_the_persons_word() -> None:
    """What happened on a branch that was left."""
    path = [
        *entries_of(user("a")),
        entry("b", "e0", type="branch_summary", body={"summary": "tried"}),
    ]

    assert project(path) == (user("a"), summary("tried", "branch_summary"))


MESSAGES = st.lists(
    st.one_of(
        st.just(user("hi")),
        st.lists(st.sampled_from(["", "c1", "c2", "c1_2"]), max_size=3).map(
            lambda ids: assistant("", *ids)
        ),
        st.lists(st.sampled_from(["", "c1", "c2", "x"]), max_size=3).map(
            lambda ids: tool(*(result(name, name) for name in ids))
        ),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_any_history_becomes_a_valid_request(history: list[Message]) -> None:
    """Every call has its one result directly after it, ids are unique and never empty."""
    repaired = repair(history)

    ids = [
        call.id for one in repaired if isinstance(one, AssistantMessage) for call in one.tool_calls
    ]
    assert len(ids) == len(set(ids))
    assert all(ids)
    for at, message in enumerate(repaired):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            answers = repaired[at + 1]
            assert isinstance(answers, ToolMessage)
            assert [item.call for item in answers.results] == [
                call.id for call in message.tool_calls
            ]
            assert all(item.output for item in answers.results)
        if isinstance(message, ToolMessage):
            assert isinstance(repaired[at - 1], AssistantMessage)
    assert repair(repaired) == repaired
