"""Looking at a session while another has it."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.sessions.entry import encode_header
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.view import SessionView

from .conftest import HEADER, entry, file_of, user


def test_second_process_reads_what_the_first_writes(create: Callable[[], SessionStore]) -> None:
    """session-jsonl-18: one writes, others read only, and the holder is named."""
    with create() as store:
        view = SessionView.open(store.path)
        assert view.tree.leaf is None
        store.append("message", encode_message(user("one")))

        assert view.refresh() == 1
        store.append("message", encode_message(user("two")))
        store.append("message", encode_message(user("three")))
        assert view.refresh() == 2
        assert view.refresh() == 0

        assert view.tree.messages() == store.messages()
        assert view.warnings == []
        assert view.holder is not None
        assert view.holder.pid == os.getpid()
        with pytest.raises(SessionBusy):
            SessionStore.open(store.path)
    assert view.holder is None


def test_unfinished_line_waits_and_is_left_alone(create: Callable[[], SessionStore]) -> None:
    """The writer may be in the middle of it."""
    with create() as store:
        store.append("message", encode_message(user("one")))
    line = file_of(entry("b", None), header=None)
    whole = store.path.read_bytes() + line
    store.path.write_bytes(whole[:-20])

    view = SessionView.open(store.path)
    assert len(view.tree.entries) == 1
    assert store.path.read_bytes() == whole[:-20]
    store.path.write_bytes(whole)

    assert view.refresh() == 1


def test_file_in_its_place_is_read_anew(path) -> None:
    """A change of format moves every line; the view goes on."""
    old = encode_header(HEADER).replace(b'"version":2', b'"version":1')
    path.parent.mkdir(parents=True)
    path.write_bytes(old + file_of(entry("a", None), header=None))
    view = SessionView.open(path)
    with SessionStore.open(path) as store:
        store.append("message", encode_message(user("next")))

        assert view.refresh() == 1
        assert view.header.version == 2
        assert view.tree.messages() == store.messages()


def test_missing_session_is_an_error(path) -> None:
    """It says what is wrong."""
    with pytest.raises(SessionError, match="cannot be read"):
        SessionView.open(path)
