"""``glovebox sessions search``, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path


def test_what_was_said_is_found_on_any_branch(sessions, session: Path, tmp_path) -> None:
    """Safe for a terminal; other directories only when asked."""
    done = sessions("search", "BRANCH", "left")

    assert done.returncode == 0
    assert done.stdout.startswith("0123456789ab  ")
    assert done.stdout.endswith("user: left branch\n")
    assert r"\x1b[2J the \u202e" in sessions("search", "mend").stdout
    elsewhere = sessions("search", "mend", cwd=tmp_path)
    assert (elsewhere.returncode, elsewhere.stdout) == (1, "")
    assert "--all" in elsewhere.stderr
    assert sessions("search", "mend", "--all", cwd=tmp_path).returncode == 0
    assert session.exists()


def test_finds_are_limited_and_that_is_said(sessions, session: Path) -> None:
    """As JSON, ``more`` says it."""
    assert session.exists()
    found = json.loads(sessions("search", "branch", "--limit", "1", "--json").stdout)

    assert (len(found["hits"]), found["more"]) == (1, True)
    assert found["hits"][0]["session"] == "0123456789ab"
    assert "--limit" in sessions("search", "branch", "--limit", "1").stderr


def test_unreadable_session_does_not_hide_the_others(sessions, session: Path) -> None:
    """It is named."""
    newer = b'{"type":"session","id":"ffff00000000","cwd":"/x","created":"","version":99}\n'
    (session.parent / "20270102T030405_ffff00000000.jsonl").write_bytes(newer)

    done = sessions("search", "branch")

    assert len(done.stdout.splitlines()) == 2
    assert "got 99" in done.stderr


def test_pattern_that_is_none_is_wrong_use(sessions) -> None:
    """The message says where it is wrong."""
    done = sessions("search", "--regex", "(")

    assert done.returncode == 2
    assert "unterminated" in done.stderr
