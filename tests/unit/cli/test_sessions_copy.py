"""``glovebox sessions fork``, ``clone`` and ``label``, run as users run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.view import SessionView


def ids(path: Path) -> list[str]:
    return [entry.id for entry in SessionView.open(path).tree.entries]


def test_fork_is_a_session_of_its_own(sessions, session: Path, project: Path) -> None:
    """Its id is the answer; what comes next, and that the workspace is fresh, is said."""
    done = sessions("fork", "0123")
    made = done.stdout.strip()

    assert done.returncode == 0, done.stderr
    assert f"glovebox run --resume {made} PROMPT" in done.stderr
    listed = json.loads(sessions("list", "--json").stdout)["sessions"]
    (copy,) = (row for row in listed if row["id"] == made)
    assert (copy["forked_from"], copy["cwd"]) == ("0123456789ab", str(project))
    first, _, right = ids(session)
    view = SessionView.open(Path(copy["file"]))
    assert [entry.id for entry in view.tree.entries[:-1]] == [first, right]
    assert "(copy of 0123456789ab) mend" in sessions("list").stdout
    assert "copied from session 0123456789ab" in sessions("show", made).stdout
    assert ids(session) == [first, _, right], "the other one is only read"


def test_fork_before_what_was_said_gives_it_back(sessions, session: Path) -> None:
    """By id or by label; the words are to be said anew, safe for a terminal."""
    first, left, _ = ids(session)
    assert sessions("label", "0123", left[:6], "here").returncode == 0

    row = json.loads(sessions("fork", "--before", "here", "--json").stdout)
    plain = sessions("fork", "0123", "--before", first)

    assert row["said"] == "left branch"
    assert [entry.type for entry in SessionView.open(Path(row["file"])).tree.entries] == [
        "message",
        "custom",
    ]
    assert r"you had said there: mend \x1b[2J the \u202e test" in plain.stderr


def test_clone_has_both_branches_and_another_directory(sessions, session: Path, tmp_path) -> None:
    """A project that moved can be gone on with."""
    (tmp_path / "moved").mkdir()
    row = json.loads(sessions("clone", "--to", str(tmp_path / "moved"), "--json").stdout)

    assert row["cwd"] == str(tmp_path / "moved")
    assert ids(Path(row["file"]))[:-1] == ids(session)


def test_session_that_is_open_can_be_copied_but_not_labelled(sessions, session: Path) -> None:
    """Reading needs no lease; writing does, and the holder is named."""
    with SessionStore.open(session):
        copied = sessions("fork", "0123")
        labelled = sessions("label", "0123", ids(session)[0], "x")

    assert copied.returncode == 0
    assert "has this session open" in copied.stderr
    assert labelled.returncode == 1
    assert "has this session open" in labelled.stderr


def test_label_is_shown_listed_and_taken_away(sessions, session: Path) -> None:
    """In the tree it stands before what was said."""
    first = ids(session)[0]
    sessions("label", "0123", first, "begin")

    assert "[begin] user: mend" in sessions("show", "0123").stdout
    assert sessions("label", "0123").stdout == f"{first}  begin\n"
    assert sessions("label", "0123", "begin", "--remove").returncode == 0
    assert json.loads(sessions("label", "0123", "--json").stdout) == {"labels": {}}


@pytest.mark.parametrize(
    "arguments",
    [
        ["fork", "--before", "a", "--after", "b"],
        ["fork", "--after", "nothing"],
        ["fork", "--to", "nowhere"],
        ["label", "0123", "a"],
        ["label", "0123", "a", "x", "--remove"],
    ],
)
def test_wrong_use_makes_nothing(sessions, session: Path, arguments: list[str]) -> None:
    """Exit code 2, and no file more."""
    done = sessions(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert list(session.parent.glob("*.jsonl")) == [session]
