"""The transcript is on disk before anything follows from it."""

import pytest

from orchestrator.errors import SessionError
from orchestrator.harness.transcript import StoredTranscript
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import Text, ToolMessage, ToolResult, UserMessage
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.corridor import SESSION, call
from tests.support.loops import says

HELLO = UserMessage((Text("hello"),))
HEADER = SessionHeader(SESSION, "/project", "2026-01-01T00:00:00Z")


class WatchedStore:
    """Keeps the order of what is asked of a store; ``full`` makes its disk so."""

    def __init__(self, *, full=False):
        self.asked = []
        self._full = full

    def append(self, kind, body):
        self.asked.append(("append", kind, body))

    def sync(self):
        self.asked.append("sync")
        if self._full:
            raise SessionError("not known to be on disk")


def test_message_is_synced_before_add_returns():
    """Appended, then forced to disk, in that order."""
    store = WatchedStore()
    StoredTranscript(store).add(HELLO)

    assert store.asked == [("append", "message", encode_message(HELLO)), "sync"]


def test_message_that_is_not_on_disk_ends_the_run():
    """Nothing may follow from it."""
    with pytest.raises(SessionError):
        StoredTranscript(WatchedStore(full=True)).add(HELLO)


def test_conversation_is_read_back_fit_to_send(tmp_path):
    """What was added, in order, and after a crash a result for the call that has none."""
    with SessionStore.create(tmp_path / "s.jsonl", HEADER) as store:
        transcript = StoredTranscript(store)
        transcript.add(HELLO)
        transcript.add(says(call("bash", command="ls")))
        before = transcript.messages()
    with SessionStore.open(tmp_path / "s.jsonl") as again:
        after = StoredTranscript(again).messages()

    assert before == after
    assert after[0] == HELLO
    assert isinstance(after[2], ToolMessage)
    assert (after[2].results[0].call, after[2].results[0].is_error) == (CallId("call_1"), True)


def test_result_that_was_stored_is_the_one_sent(tmp_path):
    """No result is made up where there is one."""
    told = ToolMessage((ToolResult(CallId("call_1"), "bash", "a b"),))
    with SessionStore.create(tmp_path / "s.jsonl", HEADER) as store:
        transcript = StoredTranscript(store)
        for message in (HELLO, says(call("bash", command="ls")), told):
            transcript.add(message)

        assert transcript.messages()[2] == told
