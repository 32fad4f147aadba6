"""``glovebox sessions``, run as users run it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.sessions.store import SessionStore

Glovebox = Callable[..., subprocess.CompletedProcess[str]]


def test_sessions_of_a_directory_are_listed_with_their_first_words(
    sessions: Glovebox, session: Path, tmp_path: Path
) -> None:
    """A person finds the session again; nothing in it acts on the terminal."""
    assert session.exists()

    done = sessions("list")

    assert done.returncode == 0
    assert done.stdout.startswith("0123456789ab  ")
    assert r"mend \x1b[2J the \u202e test" in done.stdout
    assert sessions("list", cwd=tmp_path).stdout == ""
    assert "--all" in sessions("list", cwd=tmp_path).stderr
    assert "0123456789ab" in sessions("list", "--all", cwd=tmp_path).stdout
    assert "0123456789ab" in sessions("list", "-C", "project", cwd=tmp_path).stdout


def test_list_as_json_holds_headers_and_files(
    sessions: Glovebox, session: Path, project: Path
) -> None:
    """For machines, everything about each session."""
    (row,) = json.loads(sessions("list", "--json").stdout)["sessions"]

    assert row["file"] == str(session)
    assert row["cwd"] == str(project)
    assert row["title"] == "mend \x1b[2J the \u202e test"


@pytest.mark.parametrize("given", [["0123456789ab"], ["01"], []])
def test_tree_is_shown_with_the_current_branch_marked(
    sessions: Glovebox, session: Path, given: list[str]
) -> None:
    """Both branches are there, and it is plain which one goes on."""
    assert session.exists()

    lines = sessions("show", *given).stdout.splitlines()

    assert lines[0].startswith("session 0123456789ab")
    assert [(line[:4], line.rsplit(": ", 1)[1]) for line in lines[2:]] == [
        ("    ", "left branch"),
        (">   ", "right branch"),
    ]
    assert r"\x1b[2J" in lines[1]


def test_show_as_json_is_the_header_and_the_entries(sessions: Glovebox, session: Path) -> None:
    """One object a line, with no character that acts on a terminal."""
    assert session.exists()

    text = sessions("show", "--json").stdout

    assert "\u202e" not in text
    assert [json.loads(line)["type"] for line in text.splitlines()] == ["session", *["message"] * 3]


def test_damage_is_told_on_stderr(sessions: Glovebox, session: Path) -> None:
    """What is shown is what can be read, and the rest is named."""
    session.write_bytes(session.read_bytes() + b"damage\n")

    done = sessions("show")

    assert done.stderr == "line 5: damaged, skipped (6 bytes)\n"
    assert done.returncode == 0


def test_session_in_use_can_be_shown(sessions: Glovebox, session: Path) -> None:
    """Reading needs no lease."""
    with SessionStore.open(session):
        assert sessions("show").returncode == 0


@pytest.mark.parametrize("arguments", [["show"], ["show", "ffff"]])
def test_missing_session_is_an_error(sessions: Glovebox, arguments: list[str]) -> None:
    """The message says what to try."""
    done = sessions(*arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert "sessions list --all" in done.stderr
