"""Copying and bringing a session up, killed at every effect on files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.sessions_copy import fork
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.view import SessionView

ROOT = Path(__file__).parents[3]


def killed(session: Path, step: int, *arguments: str) -> bool:
    """Run a command that dies at a step; say whether it did."""
    state = session.parents[2]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(state.parent),
        "PYTHONPATH": str(ROOT),
        "GLOVEBOX_STATE": str(state),
    }
    words = [sys.executable, "-m", "tests.support.killed_at", str(step), "sessions", *arguments]
    done = subprocess.run(
        words, check=False, cwd=session.parents[3] / "project", env=environ, capture_output=True
    )
    assert done.returncode in {0, -9}, done.stderr
    return done.returncode == -9


def test_copy_is_whole_or_not_there(session: Path) -> None:
    """Whatever step it dies at, and the session is as it was."""
    assert fork.__doc__
    before = session.read_bytes()
    step = 1
    while killed(session, step, "fork", "0123"):
        copies = [path for path in session.parent.glob("*.jsonl") if path != session]
        for copy in copies:
            view = SessionView.open(copy)
            assert [one.type for one in view.tree.entries] == ["message", "message", "custom"]
            assert view.warnings == []
            copy.unlink()
        assert session.read_bytes() == before
        step += 1

    assert step > 3


@pytest.mark.parametrize("again", [False, True])
def test_session_is_brought_up_whole_or_not_at_all(session: Path, again: bool) -> None:
    """Either format is a session with all its entries; a second attempt always gets through."""
    whole = session.read_bytes()
    ids = [one.id for one in SessionView.open(session).tree.entries]
    old = whole.replace(b'"version":2', b'"version":1', 1)
    backup = session.with_name(f"{session.name}.v1")
    step = 1
    session.write_bytes(old)
    while killed(session, step, "label", "0123", ids[0], "x"):
        assert [one.id for one in SessionView.open(session).tree.entries][:3] == ids
        if SessionView.open(session).header.version == 2:
            assert backup.read_bytes() == old
        if again:
            with SessionStore.open(session) as store:
                assert [one.id for one in store.tree.entries][:3] == ids
            assert backup.read_bytes() == old
        for path in session.parent.iterdir():
            path.unlink()
        session.write_bytes(old)
        step += 1

    assert step > 4
