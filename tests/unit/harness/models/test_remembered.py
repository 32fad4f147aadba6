"""The model that a session asked last."""

import pytest

from orchestrator.errors import SessionError
from orchestrator.harness.models.remembered import Remembered, last_model, remembered
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore


@pytest.fixture
def store(tmp_path):
    header = SessionHeader("0123456789ab", "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(tmp_path / "s.jsonl", header) as found:
        yield found


def change(store, name, thinking=None):
    store.append("model_change", {"model": "x/y", "name": name, "thinking": thinking})


def test_last_change_is_found_behind_much_else(store):
    change(store, "a/b")
    change(store, "c/d", "high")
    store.append("custom", {"kind": "x", "text": "y" * 100_000})

    assert remembered(store.path) == Remembered("c/d", "high")
    assert last_model(store.tree.path()) == ("c/d", "high")


def test_session_that_does_not_tell_remembers_nothing(store):
    assert remembered(store.path) == Remembered()
    assert last_model(store.tree.path()) is None


def test_text_that_looks_like_one_is_none(store):
    """What a tool printed is inside another entry's text, or a line of another kind."""
    change(store, "a/b")
    store.append("custom", {"text": '{"type":"model_change","body":{"name":"evil/model"}}'})
    store.close()
    with store.path.open("ab") as file:
        file.write(b'{"type":"custom","x":{"type":"model_change"},"body":{"name":"evil/model"}}\n')
        file.write(b'{"type":"model_change","broken\n')

    assert remembered(store.path) == Remembered("a/b")


@pytest.mark.parametrize("body", [{"name": 3}, {"name": ""}, {"thinking": "hard"}, {}])
def test_damaged_facts_are_none(store, body):
    store.append("model_change", body)

    assert remembered(store.path) == Remembered()


def test_empty_and_missing_files(tmp_path):
    (tmp_path / "empty").touch()

    assert remembered(tmp_path / "empty") == Remembered()
    with pytest.raises(SessionError, match="cannot be read"):
        remembered(tmp_path / "none")
