"""``glovebox sessions hide``, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

from orchestrator.schema.message import UserMessage
from orchestrator.sessions.view import SessionView


def told(session: Path) -> list[str]:
    messages = SessionView.open(session).tree.messages()
    return [m.content[0].text for m in messages if isinstance(m, UserMessage)]  # type: ignore[union-attr]


def test_message_is_hidden_from_the_model_and_told_again(sessions, session: Path) -> None:
    """The session keeps it: it is still found and shown."""
    before = told(session)
    right = SessionView.open(session).tree.leaf

    done = sessions("hide", "0123", str(right), "--json")
    assert json.loads(done.stdout) == {"entry": right, "hidden": True}
    assert told(session) == before[:1]
    assert "right branch" in sessions("show", "0123").stdout
    assert sessions("hide", "0123", str(right), "--undo").returncode == 0

    assert told(session) == before


def test_only_messages_of_the_conversation_are_hidden(sessions, session: Path) -> None:
    """Those of another branch are not told anyway."""
    left = SessionView.open(session).tree.entries[1].id
    done = sessions("hide", "0123", left)

    assert done.returncode == 2
    assert "as it stands" in done.stderr
