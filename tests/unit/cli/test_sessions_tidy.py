"""``glovebox sessions rm`` and ``prune``, run as users run them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from orchestrator.sessions.store import SessionStore


def test_session_is_removed_with_what_lies_beside_it(sessions, session: Path) -> None:
    """Nothing of the conversation stays."""
    session.with_name(f"{session.name}.torn-5").write_text("rest")
    session.with_name(f"{session.name}.v1").write_text("old")

    shown = sessions("rm", "0123", "--dry-run")
    assert "would be removed" in shown.stdout
    assert session.exists()
    done = sessions("rm", "0123")

    assert done.stdout == "session 0123456789ab removed\n"
    assert list(session.parent.iterdir()) == []


def test_open_session_stays(sessions, session: Path) -> None:
    """Its process would write into nothing."""
    with SessionStore.open(session):
        done = sessions("rm", "0123")

    assert done.returncode == 1
    assert "has it open" in done.stderr
    assert session.exists()


@pytest.mark.parametrize("command", [["rm", "0123"], ["prune", "--keep", "0"]])
def test_session_with_changes_stays(sessions, session: Path, tmp_path, command) -> None:
    """What an agent did is not thrown away with its talk."""
    record = tmp_path / "state" / "work" / "0123456789ab" / "workspace.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")

    done = sessions(*command)

    assert "changes wait" in done.stderr
    assert session.exists()
    assert record.exists()


def test_wrong_id_removes_nothing(sessions, session: Path) -> None:
    """All are looked up first."""
    assert sessions("rm", "0123", "ffff").returncode == 1
    assert session.exists()


def test_prune_takes_the_old_and_leaves_the_newest(sessions, session: Path) -> None:
    """Both bounds hold together."""
    old = session.with_name("20200102T030405_ffff00000000.jsonl")
    old.write_bytes(session.read_bytes().replace(b"0123456789ab", b"ffff00000000"))
    month_ago = time.time() - 31 * 86400
    os.utime(old, (month_ago, month_ago))

    assert "nothing to remove" in sessions("prune", "--older-than", "60d").stderr
    assert "nothing to remove" in sessions("prune", "--older-than", "30d", "--keep", "2").stderr
    rows = json.loads(sessions("prune", "--older-than", "30d", "--json").stdout)

    assert rows["removed"] == ["ffff00000000"]
    assert rows["bytes"] > 100
    assert (old.exists(), session.exists()) == (False, True)


@pytest.mark.parametrize("options", [[], ["--older-than", "soon"]])
def test_nothing_is_pruned_without_a_bound(sessions, session: Path, options) -> None:
    """No default deletes."""
    done = sessions("prune", *options)

    assert done.returncode == 2
    assert session.exists()


def test_dry_run_tells_what_would_stay(sessions, session: Path) -> None:
    """As the real one would."""
    with SessionStore.open(session):
        done = sessions("prune", "--keep", "0", "--dry-run")

    assert done.returncode == 1
    assert "has it open" in done.stderr
    assert "would be removed" not in done.stdout


def test_bounds_of_the_settings_hold_without_flags(sessions, session: Path, tmp_path) -> None:
    """A flag takes their place; without either nothing goes."""
    config = tmp_path / ".config/glovebox/config.yaml"
    config.parent.mkdir(parents=True)
    os.utime(session, (time.time() - 40 * 86400,) * 2)
    assert sessions("prune").returncode == 2

    config.write_text("sessions: {older_than: 30d, keep: 1}\n")
    assert "nothing to remove" in sessions("prune").stderr
    config.write_text("sessions: {older_than: 60d}\n")
    assert "nothing to remove" in sessions("prune").stderr
    assert "would be removed" in sessions("prune", "--older-than", "30d", "-n").stdout
    config.write_text("sessions: {older_than: 30d}\n")
    assert "removed" in sessions("prune").stdout
    assert not session.exists()


@pytest.mark.parametrize("wrong", ["older_than: 0d", "older_than: soon", "keep: -1", "kept: 1"])
def test_wrong_bounds_remove_nothing(sessions, session: Path, tmp_path, wrong: str) -> None:
    """What is not understood is no permission."""
    config = tmp_path / ".config/glovebox/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"sessions: {{{wrong}}}\n")

    done = sessions("prune")

    assert done.returncode == 7
    assert "config.yaml: sessions." in done.stderr
    assert session.exists()
