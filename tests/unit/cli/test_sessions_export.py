"""``glovebox sessions export``, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Text, UserMessage
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.view import SessionView
from tests.support.pages import Page

SECRET = "ghp_" + "q8Rz1vTk3nLm5xYb7cWd9eFg2hJp4sUa6iOt"


@pytest.fixture
def told(session: Path) -> Path:
    """A secret got into the session's file."""
    with SessionStore.open(session) as store:
        store.append("message", encode_message(UserMessage((Text(f"take {SECRET}"),))))
    return session


@pytest.mark.parametrize("form", ["html", "md", "jsonl"])
def test_no_form_gives_a_secret_away(sessions, told: Path, form: str, project: Path) -> None:
    """What is written is named, readable by its owner alone, and never written over."""
    assert told.exists()
    done = sessions("export", "0123", "-o", f"out.{form}")
    again = sessions("export", "0123", "-o", f"out.{form}")
    written = project / f"out.{form}"

    assert (done.returncode, done.stdout) == (0, f"out.{form}\n")
    assert "read it before you share it" in done.stderr
    assert SECRET not in written.read_text()
    assert "[redacted:" in written.read_text()
    assert written.stat().st_mode & 0o777 == 0o600
    assert again.returncode == 1
    assert "not there yet" in again.stderr


def test_page_goes_to_a_pipe(sessions, session: Path) -> None:
    """With both branches, and the words as they were."""
    assert session.exists()
    page = Page.of(sessions("export").stdout)

    assert page.all("title")
    assert "mend U+001B[2J the U+202E test" in page.text
    assert "left branch" in page.text
    assert "left branch" not in sessions("export", "--current").stdout


def test_lines_are_a_session_again(sessions, session: Path, tmp_path: Path) -> None:
    """The home directory is not told."""
    done = sessions("export", "-f", "jsonl")
    path = tmp_path / "again.jsonl"
    path.write_text(done.stdout)

    assert json.loads(done.stdout.splitlines()[0])["cwd"] == "~/project"
    again, first = SessionView.open(path).tree, SessionView.open(session).tree
    assert again.entries == first.entries


def test_session_that_is_open_can_be_exported(sessions, session: Path) -> None:
    """Reading needs no lease."""
    with SessionStore.open(session):
        assert sessions("export", "0123", "-f", "md").returncode == 0


def test_lines_can_be_gone_on_from(sessions, session: Path, project: Path) -> None:
    """On any machine: a file stands in an id's place."""
    sessions("export", "0123", "-o", "talk.jsonl")
    session.unlink()

    made = json.loads(sessions("fork", "talk.jsonl", "--to", ".", "--json").stdout)
    lost = sessions("fork", "talk.jsonl")

    assert "right branch" in sessions("show", "talk.jsonl").stdout
    assert (made["cwd"], made["forked_from"]) == (str(project), "0123456789ab")
    assert "right branch" in sessions("show", made["session"]).stdout
    assert lost.returncode == 2
    assert "--to DIR" in lost.stderr


def test_ending_that_names_no_form_is_refused(sessions, session: Path, project: Path) -> None:
    """Nobody gets a page under a text's name, unless they say so; the forms are named."""
    assert session.exists()

    refused = sessions("export", "0123", "-o", "talk.txt")
    written = sessions("export", "0123", "-o", "talk.txt", "-f", "md")

    assert refused.returncode == 2
    assert "expected a name that ends in .html, .htm, .md, .jsonl, got '.txt'" in refused.stderr
    assert written.returncode == 0
    assert not (project / "talk.txt").read_text().startswith("<!")
