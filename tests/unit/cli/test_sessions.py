"""``glovebox sessions``, run as users run it."""

from __future__ import annotations

import json
import os
import socket
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
    assert sessions("list", "--all", cwd=tmp_path).stderr == ""
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


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["list", "--all"],
        ["show"],
        ["show", "0123456789ab"],
        ["search", "branch"],
        ["stats", "--every"],
        ["export", "--out", "-"],
        ["prune", "--keep", "1"],
    ],
    ids=" ".join,
)
def test_what_is_no_file_among_sessions_holds_nothing_up(
    sessions: Glovebox, session: Path, tmp_path: Path, command: list[str]
) -> None:
    """Pipes, sockets, links, devices and folders are passed by; the session is found."""
    strange_things(session.parent, tmp_path)

    done = sessions(*command)

    assert done.returncode == 0, done.stderr
    assert "dddddddddddd" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_session_that_is_too_large_to_read_is_named(sessions: Glovebox, session: Path) -> None:
    """It is listed, the others are searched, and it is never read whole."""
    huge = session.with_name("20990101T000000_eeeeeeeeeeee.jsonl")
    huge.touch(mode=0o600)
    os.truncate(huge, 2**42)

    assert "eeeeeeeeeeee" in sessions("list").stdout
    found = sessions("search", "branch")
    assert "0123456789ab" in found.stdout
    assert "expected at most 2147483648 bytes, got 4398046511104" in found.stderr
    shown = sessions("show", "eeee")
    assert shown.returncode == 1
    assert "expected at most 2147483648 bytes" in shown.stderr
    labelled = sessions("label", "eeee", "x", "y")
    assert "expected at most 2147483648 bytes" in labelled.stderr


def test_file_that_a_person_names_may_be_a_link(
    sessions: Glovebox, session: Path, tmp_path: Path
) -> None:
    """Only what lies among the sessions may not."""
    (tmp_path / "mine.jsonl").symlink_to(session)

    done = sessions("show", str(tmp_path / "mine.jsonl"))

    assert done.stdout.startswith("session 0123456789ab")


def strange_things(folder: Path, elsewhere: Path) -> None:
    """Put beside a session what a reader could wait for, or be led out by; all newer than it."""
    name = "20990101T00000{}_dddddddddddd.jsonl".format
    os.mkfifo(folder / name(0))
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(elsewhere / "s"))
    (elsewhere / "s").rename(folder / name(1))
    (folder / name(2)).symlink_to("/dev/zero")
    (folder / name(3)).symlink_to("nowhere")
    (folder / name(4)).mkdir()
    outward = elsewhere / "outward"
    outward.write_text(
        '{"type":"session","version":2,"id":"dddddddddddd","cwd":"/p","created":"2026"}\n'
    )
    (folder / name(5)).symlink_to(outward)
    for entry in folder.glob("*.jsonl"):
        if not entry.is_symlink() and entry.is_file():
            os.mkfifo(f"{entry}.lease")


def test_empty_store_has_none(sessions: Glovebox) -> None:
    """And nobody is told to look where they looked."""
    done = sessions("list", "--all")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no sessions\n")


def test_what_was_said_on_several_lines_is_one_line_in_lists(
    sessions: Glovebox, project: Path, session: Path
) -> None:
    """No word of a program's for the end of a line stands in it."""
    store = SessionStore.open(session)
    store.append("custom", {"kind": "title", "title": "mend\nthe  test"})
    store.append("message", {"role": "user", "content": [{"type": "text", "text": "one\ntwo"}]})
    store.append("compaction", {"summary": "We\nmend it.", "from": "x", "files": {}})
    store.close()

    listed, shown = sessions("list", cwd=project).stdout, sessions("show").stdout

    assert listed.endswith("mend the test\n")
    assert "user: one two\n" in shown
    assert "compaction  summary of what came before: We mend it.\n" in shown
