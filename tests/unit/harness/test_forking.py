"""Copies of sessions: whole, of their own, told what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.forking import TOLD, begins_here, clone_session, fork_session
from orchestrator.harness.rewind_plan import MARK, notes_for_model
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId, SessionId
from orchestrator.schema.message import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import FORMAT_VERSION, SessionHeader
from orchestrator.sessions.places import before
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.view import SessionView

ASKED = UserMessage((Text("mend it"),))
CALLS = AssistantMessage(
    tuple(ToolCall(CallId(name), "bash", "{}", {}) for name in "ab"), "tool_use"
)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def store(tmp_path: Path, paths: Paths):
    header = SessionHeader(SessionId("0123456789ab"), str(tmp_path), "2026-01-02T03:04:05Z", "p")
    with SessionStore.create(paths.sessions / "x" / "t_0123456789ab.jsonl", header) as store:
        yield store


def add(store: SessionStore, message):
    return store.append("message", encode_message(message))


def results(*names: str) -> ToolMessage:
    return ToolMessage(tuple(ToolResult(CallId(name), "bash", "ok") for name in names))


def test_copy_of_a_running_session_is_whole_and_told(store, paths: Paths, tmp_path) -> None:
    """The next thing that the model hears is where it is."""
    add(store, ASKED)
    made = fork_session(store.path, paths)
    view = SessionView.open(made.path)

    assert view.warnings == []
    assert view.tree.messages() == (ASKED,)
    assert notes_for_model(view.tree.path()) == [TOLD]
    assert (view.header.version, view.header.forked_from) == (FORMAT_VERSION, "0123456789ab")
    assert view.header.policy_digest == "p"
    assert view.header.forked_at == store.tree.leaf
    assert made.path.parent == paths.project_sessions(tmp_path)
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert begins_here(view.tree, is_copy=True)


@pytest.mark.parametrize("answered", [(), ("a",)])
def test_answer_at_work_is_left_out(store, paths: Paths, answered) -> None:
    """Its calls belong to the other session, whose results are still to come."""
    add(store, ASKED)
    add(store, CALLS)
    if answered:
        add(store, results(*answered))

    made = fork_session(store.path, paths)

    assert made.left_out
    assert SessionView.open(made.path).tree.messages() == (ASKED,)


@pytest.mark.parametrize("apart", [False, True])
def test_finished_answer_is_in(store, paths: Paths, apart: bool) -> None:
    """However its results were written."""
    add(store, CALLS)
    for part in [results("a"), results("b")] if apart else [results("a", "b")]:
        add(store, part)

    made = fork_session(store.path, paths)

    assert not made.left_out
    assert SessionView.open(made.path).tree.messages() == (CALLS, results("a", "b"))


def test_marks_about_the_others_files_stay_behind(store, paths: Paths) -> None:
    """A copy has no snapshots of the other's: there is nothing to undo in it."""
    add(store, ASKED)
    store.append("custom", {"kind": MARK, "told": "went back", "snapshot": 3})
    first = fork_session(store.path, paths)
    second = fork_session(first.path, paths)
    whole = clone_session(second.path, paths)

    for made in (first, second, whole):
        tree = SessionView.open(made.path).tree
        assert notes_for_model(tree.path()) == [TOLD]
        assert [entry.type for entry in tree.entries] == ["message", "custom"]


def test_copy_has_begun_once_something_was_said_in_it(store, paths: Paths) -> None:
    """From then on it goes on like any session."""
    add(store, ASKED)
    made = fork_session(store.path, paths)
    with SessionStore.open(made.path) as copy:
        assert begins_here(copy.tree, is_copy=True)
        add(copy, ASKED)
        assert not begins_here(copy.tree, is_copy=True)
    assert not begins_here(store.tree, is_copy=False)


def test_fork_at_a_place_says_what_was_said_there(store, paths: Paths, tmp_path) -> None:
    """And works on another directory if asked."""
    said = add(store, ASKED)
    place = before(store.tree, said)
    made = fork_session(store.path, paths, place=place, directory=tmp_path / "other")

    assert (made.said, made.directory) == ("mend it", tmp_path / "other")
    assert SessionView.open(made.path).tree.messages() == ()


def test_session_that_lost_its_directory_needs_one(paths: Paths) -> None:
    """Nothing is guessed."""
    path = paths.sessions / "x" / "t_0123456789ab.jsonl"
    with SessionStore.create(path, SessionHeader(SessionId("0123456789ab"), "", "")):
        pass
    with pytest.raises(UsageError, match="lost which directory"):
        fork_session(path, paths)
