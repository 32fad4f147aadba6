"""Going on from another place of the tree."""

import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.jumping import TOLD, Place, go_to, place_of
from orchestrator.harness.rewind_plan import notes_for_model
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore

CALL = ToolCall(CallId("c1"), "bash", "{}", {})


@pytest.fixture
def store(tmp_path):
    header = SessionHeader("0123456789ab", "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(tmp_path / "s.jsonl", header) as found:
        yield found


@pytest.fixture
def told(store):
    """A conversation: said, called, results, answered; gives the entries' ids."""
    messages = (
        UserMessage((Text("[a note]"), Text("first"))),
        AssistantMessage((CALL,), "tool_use"),
        ToolMessage((ToolResult(CallId("c1"), "bash", "out"),)),
        AssistantMessage((Text("done"),), "end_turn"),
    )
    return [store.append("message", encode_message(message)) for message in messages]


def test_what_was_said_is_said_anew(store, told):
    assert place_of(told[0], store.tree) == Place(None, "first")


def test_answer_is_taken_with_its_results(store, told):
    """No call may stand without one."""
    assert place_of(told[1], store.tree) == Place(told[2])
    assert place_of(told[2], store.tree) == Place(told[2])
    assert place_of(told[3], store.tree) == Place(told[3])


def test_answer_whose_results_were_lost_is_taken_alone(store):
    lone = store.append("message", encode_message(AssistantMessage((CALL,), "tool_use")))

    assert place_of(lone, store.tree) == Place(lone)


def test_entry_that_is_not_there_is_refused(store):
    with pytest.raises(UsageError, match="there is none"):
        place_of("nothing", store.tree)


def test_jump_is_on_disk_and_the_model_will_be_told_of_its_files(store, told):
    go_to(store, Place(told[2]))

    assert len(store.messages()) == 3
    assert notes_for_model(store.tree.path()) == [TOLD]
    assert b'"jump"' in store.path.read_bytes()


def test_beginning_anew_needs_no_word_about_the_past(store, told):
    """There is no conversation then that could be wrong about its files."""
    go_to(store, Place(None))

    assert store.messages() == ()
    assert notes_for_model(store.tree.path()) == []
    assert [entry.id for entry in store.tree.path(told[3])] == told
