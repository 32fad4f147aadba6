from __future__ import annotations

import json
import os
import pty
import subprocess

import pytest

from tests.support.workspaces import write

pytestmark = pytest.mark.docker


def test_diff_shows_text_on_stdout_and_dangers_on_stderr(shell):
    """stdout carries the answer alone."""
    shell.work("echo two >> a.txt; echo x > Makefile")

    done = shell("diff")

    assert done.returncode == 0
    assert "+two\n" in done.stdout
    assert "runs on your machine:\n  Makefile: build" in done.stderr
    assert "runs on" not in done.stdout


def test_diff_escapes_what_the_box_wrote(shell):
    """Neither names nor contents reach the terminal raw, unless asked for and not to a terminal."""
    shell.work(r"printf '\033[2J\n' > $'n\033[31m'; printf 'a\342\200\256b\r\n' > bidi")

    shown = shell("diff")
    raw = shell("diff", "--raw")

    assert "\x1b" not in shown.stdout + shown.stderr
    assert "\u202e" not in shown.stdout
    assert r"+a\u202eb\r" in shown.stdout
    assert "\x1b[2J" in raw.stdout


def test_raw_diff_is_refused_on_a_terminal(shell):
    """The box's bytes could drive it."""
    shell.work("echo x > n")
    primary, secondary = pty.openpty()

    done = subprocess.run(
        shell.command("diff", "--raw"),
        cwd=shell.desk.project,
        env=shell.env,
        stdout=secondary,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(primary)
    os.close(secondary)

    assert done.returncode == 2
    assert "--raw" in done.stderr


def test_raw_diff_is_a_patch(shell, tmp_path):
    """Another tool can apply it."""
    shell.work("echo two >> a.txt; mkdir n; echo new > n/f")
    copy = tmp_path / "copy"
    write(copy, {"a.txt": "one\n"})

    subprocess.run(
        ["patch", "-p1", "-s"], input=shell("diff", "--raw").stdout, text=True, cwd=copy, check=True
    )

    assert (copy / "a.txt").read_text() == "one\ntwo\n"
    assert (copy / "n/f").read_text() == "new\n"


def test_stat_and_json_tell_the_same_changes(shell):
    """One for people, one for machines."""
    shell.work("echo two >> a.txt; rm sub/b.txt")

    stat, machine = shell("diff", "--stat"), json.loads(shell("diff", "--json").stdout)

    assert stat.stdout == "  modified  a.txt  (+1 -0)\n  deleted   sub/b.txt  (+0 -1)\n"
    assert [(c["path"], c["kind"]) for c in machine["changes"]] == [
        ("a.txt", "modified"),
        ("sub/b.txt", "deleted"),
    ]
    assert machine["directory"] == str(shell.desk.project)


def test_long_list_is_folded_and_all_names_it(shell):
    """A heap of generated files does not push the person's own change out of sight."""
    shell.work("mkdir -p gen; cd gen; touch $(seq -f f%g 1000); cd ..; echo two >> a.txt")

    folded, whole = shell("diff", "--stat"), shell("diff", "--stat", "--all")

    assert "  modified  a.txt" in folded.stdout
    assert "  1000      gen/  (1000 added)" in folded.stdout
    assert "glovebox diff --stat --all" in folded.stdout
    assert "gen/f777" not in folded.stdout
    assert "  added     gen/f777\n" in whole.stdout
    assert "folded" not in whole.stdout


def test_discard_drops_the_named_session(shell):
    """By the beginning of its id; another session's changes stay."""
    first = shell.work("echo 1 > one")
    second = shell.work("echo 2 > two")

    assert shell("discard", first[:8]).returncode == 0
    assert "two" in shell("diff", "--stat").stdout
    assert shell("diff", first).returncode == 1
    assert shell("diff", second).returncode == 0


def test_newest_session_of_the_directory_is_the_default(shell, tmp_path):
    """From a directory below too; from elsewhere there is none."""
    shell.work("echo 1 > old")
    shell.work("echo 2 > newest")

    below = shell("diff", "--stat", "--cd", "sub")
    elsewhere = shell("diff", "--cd", str(tmp_path))

    assert below.stdout == "  added     newest  (+1 -0)\n"
    assert elsewhere.returncode == 1


def test_nothing_is_applied_without_a_chain(shell):
    """No record, no action."""
    session = shell.work("echo x > made")
    shell.desk.paths.audit_log(session).unlink()

    done = shell("apply")

    assert done.returncode == 7
    assert not (shell.desk.project / "made").exists()


def test_broken_workspace_can_be_discarded(shell):
    """By its whole id."""
    session = shell.work("echo x > made")
    folder = shell.desk.paths.work(session)
    (folder / "workspace.json").write_text("{")

    assert shell("diff", session).returncode == 1
    assert shell("discard", session).returncode == 0
    assert not folder.exists()


def spoiled(shell, script: str) -> str:
    """Let a session work, and make its changes unreadable."""
    session = shell.work(script)
    upper = shell.desk.paths.work(session) / "upper"
    upper.rename(upper.with_name("upper.away"))
    return session


def test_unreadable_session_is_told_and_the_others_are_shown(shell):
    """The exit code still says that something failed."""
    good = shell.work("echo 1 > one")
    bad = spoiled(shell, "echo 2 > two")

    shown = shell("diff", "--stat")
    applied = shell("apply")

    assert shown.stdout == "  added     one  (+1 -0)\n"
    assert f"session {bad}: its changes cannot be read: " in shown.stderr
    assert f"`glovebox discard {bad}`" in shown.stderr
    assert (shown.returncode, applied.returncode) == (1, 1)
    assert (shell.desk.project / "one").read_text() == "1\n"
    assert not shell.desk.paths.work(good).exists()


def test_unreadable_session_is_dropped_as_the_newest(shell):
    """It is the advice that is given, and works without an id too."""
    good = shell.work("echo 1 > one")
    bad = spoiled(shell, "echo 2 > two")

    done = shell("discard")

    assert done.returncode == 0
    assert f"the changes of session {bad} are dropped" in done.stdout
    assert shell("diff", good).returncode == 0


def test_only_unreadable_sessions_are_an_error_with_the_way_out(shell):
    """And the way out is one."""
    bad = spoiled(shell, "echo 2 > two")

    done = shell("diff")

    assert done.returncode == 1
    assert "1 of its sessions cannot be read" in done.stderr
    assert shell("discard", bad).returncode == 0
    assert not shell.desk.paths.work(bad).exists()
