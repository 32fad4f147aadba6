from __future__ import annotations

import json

import pexpect
import pytest

from tests.support.workspaces import give, write

pytestmark = pytest.mark.docker

LINES = "".join(f"{number}\n" for number in range(1, 31))
EDITS = r"sed -i 's/^2$/two/; s/^15$/fifteen/; s/^29$/twenty-nine/' long; echo new > made"
"""Three hunks in one file, and a file of its own."""


@pytest.fixture
def long(shell):
    """A session that changed a long file in three places."""
    write(shell.desk.project, {"long": LINES})
    give(shell.desk.project)
    return shell.work(EDITS)


def digest(shell) -> str:
    return json.loads(shell("diff", "--hunks", "--json").stdout)["hunks"][0]["digest"]


def test_apply_takes_all_and_forgets_the_session(shell):
    """Exit code 0, and nothing waits any more."""
    shell.work("echo two >> a.txt")

    done = shell("apply")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 changes applied to {shell.desk.project}\n"
    assert (shell.desk.project / "a.txt").read_text() == "one\ntwo\n"
    again = shell("diff")
    assert again.returncode == 1
    assert "no session has changes waiting" in again.stderr


def test_apply_of_a_path_leaves_the_rest(shell):
    """Whatever was not asked for waits, without an error."""
    shell.work("echo two >> a.txt; echo c > sub/c.txt")

    done = shell("apply", "--path", "sub", "--json")

    assert done.returncode == 0
    assert [c["path"] for c in json.loads(done.stdout)["applied"]] == ["sub/c.txt"]
    assert "the rest waits" in done.stderr
    assert (shell.desk.project / "a.txt").read_text() == "one\n"


def test_apply_that_leaves_something_unasked_exits_1(shell):
    """A script must not take it for the whole."""
    shell.work("echo x > .envrc; echo y > ok")

    done = shell("apply")

    assert done.returncode == 1
    assert ".envrc: it is protected" in done.stderr
    assert (shell.desk.project / "ok").exists()
    assert not (shell.desk.project / ".envrc").exists()


def test_conflict_exits_1_and_applies_nothing(shell):
    """With the way to go on."""
    shell.work("echo two >> a.txt; echo y > ok")
    (shell.desk.project / "a.txt").write_text("mine\n")

    done = shell("apply")

    assert done.returncode == 1
    assert "changed on the host" in done.stderr
    assert "--skip-conflicts" in done.stderr
    assert not (shell.desk.project / "ok").exists()
    assert shell("apply", "--skip-conflicts").returncode == 0
    assert (shell.desk.project / "ok").exists()


def test_malformed_path_glob_is_a_usage_error(shell):
    """It names the glob."""
    shell.work("echo y > ok")

    done = shell("apply", "--path", "../x")

    assert done.returncode == 2
    assert "../x" in done.stderr


def test_apply_and_discard_are_in_the_audit_chain(shell):
    """Intent before the effect, outcome after it; names of any bytes included."""
    taken = shell.work(r"echo x > ok; echo y > $'\xff\xfe'; mkfifo f")
    assert shell("apply").returncode == 1
    dropped = shell.work("echo x > other")
    assert shell("discard", dropped).returncode == 0

    (intent, wish), (outcome, done) = shell.recorded(taken)

    assert (intent, outcome) == ("apply_intent", "apply_outcome")
    assert wish["count"] == done["applied"] == 2
    assert done["left"][0]["path"] == "f"
    assert [kind for kind, _ in shell.recorded(dropped)] == ["discard"]


def test_hunks_are_numbered_and_taken_by_number(shell, long):
    """The rest waits, and the diff then shows the rest alone."""
    shown = shell("diff", "--hunks")
    assert "3: @@ -26,5 +26,5 @@" in shown.stdout

    done = shell("apply", "--hunk", "long:1,3")

    assert done.returncode == 0, done.stderr
    assert "1 changes applied" in done.stdout
    assert "1 of them in part" in done.stdout
    lines = (shell.desk.project / "long").read_text().split()
    assert (lines[1], lines[14], lines[28]) == ("two", "15", "twenty-nine")
    assert not (shell.desk.project / "made").exists()
    rest = shell("diff").stdout
    assert "-15\n+fifteen\n" in rest
    assert "two" not in rest
    assert ("apply_intent", "long") in [
        (kind, path) for kind, body in shell.recorded(long) for path in body.get("hunks", ())
    ]
    assert shell("apply").returncode == 0
    assert (shell.desk.project / "long").read_text().split()[14] == "fifteen"


@pytest.mark.usefixtures("long")
def test_hunks_that_were_never_shown_are_refused(shell):
    """A number means nothing before somebody saw it; ``diff`` without numbers is no showing."""
    shell("diff")

    done = shell("apply", "--hunk", "long:1")

    assert done.returncode == 1
    assert "were not shown yet" in done.stderr
    assert (shell.desk.project / "long").read_text() == LINES


@pytest.mark.usefixtures("long")
def test_hunks_of_other_contents_are_refused(shell):
    """Another edit on either side makes other numbers; nothing is taken by an old one."""
    named = f"long:1@{digest(shell)}"
    desk = shell.desk
    desk.begun[0].site.folder.joinpath("upper/long").write_text(LINES.replace("9\n", "nine\n"))

    for choice in (named, "long:1"):
        done = shell("apply", "--hunk", choice)
        assert done.returncode == 1
        assert "not those that were shown" in done.stderr or "not shown yet" in done.stderr
    assert (desk.project / "long").read_text() == LINES


@pytest.mark.parametrize("choice", ["long", "long:", "long:0", "long:3-1", "long:1@zz", "long:x"])
def test_malformed_hunk_is_a_usage_error(shell, choice):
    """Before anything is read."""
    done = shell("apply", "--hunk", choice)

    assert done.returncode == 2
    assert "--hunk" in done.stderr


@pytest.mark.usefixtures("long")
def test_hunk_numbers_out_of_range_and_wholes_are_told(shell):
    """What has no hunks is taken by its path."""
    shell("diff", "--hunks")

    assert "it has 3 hunks, not number 4" in shell("apply", "--hunk", "long:4").stderr
    assert "no change matches nothing" in shell("apply", "--hunk", "nothing:1").stderr
    whole = shell("apply", "--hunk", f"made:1@{'0' * 12}").stderr
    assert "it has no hunks to choose from" in whole
    assert (shell.desk.project / "long").read_text() == LINES


def interactive(shell):
    program, *arguments = shell.command("apply", "-i")
    return pexpect.spawn(
        program,
        arguments,
        cwd=str(shell.desk.project),
        env=shell.env,
        encoding="utf-8",
        timeout=30,
        dimensions=(60, 160),
    )


def answer(child, *keys) -> str:
    """Answer question after question; return what was shown."""
    shown = ""
    for key in keys:
        child.expect(r"\(default\), q = no more: ")
        shown += child.before
        child.send(f"{key}\r")
    child.expect(pexpect.EOF)
    child.wait()
    return shown + child.before


@pytest.mark.usefixtures("long")
def test_interactive_takes_files_and_hunks_that_got_a_yes(shell):
    """An empty answer is a no; what got none waits."""
    shown = answer(interactive(shell), "h", "", "y", "n", "y")

    assert "hunk 2 of 3" in shown
    assert "2 changes applied" in shown
    lines = (shell.desk.project / "long").read_text().split()
    assert (lines[1], lines[14], lines[28]) == ("2", "fifteen", "29")
    assert (shell.desk.project / "made").read_text() == "new\n"


def test_interactive_stops_at_q_and_shows_everything_escaped(shell):
    """Nothing of the box drives the terminal, and nothing after q is taken."""
    shell.work(r"printf '\033[2Jx\n' > a.txt; echo 1 > sub/b.txt")

    shown = answer(interactive(shell), "q")

    assert "\\x1b[2J" in shown
    assert "\x1b[2J" not in shown
    assert "nothing was applied" in shown
    assert (shell.desk.project / "a.txt").read_text() == "one\n"


def test_interactive_wants_the_whole_word_for_protected_paths(shell):
    """A quick y is not the explicit yes that they need."""
    shell.work("echo x > .envrc")

    shown = answer(interactive(shell), "y")
    assert "nothing was applied" in shown
    assert "protected by policy: .envrc" in shown
    assert "--include-protected" not in shown
    assert "1 changes applied" in answer(interactive(shell), "yes")
    assert (shell.desk.project / ".envrc").exists()


def test_interactive_brings_a_move_away_from_a_protected_path(shell):
    """Its old name is removed by it, so it takes the whole word, and then no flag is asked for."""
    write(shell.desk.project, {".envrc": "use flake\n"})
    shell.work("mv .envrc envrc.txt")

    assert "nothing was applied" in answer(interactive(shell), "y")
    shown = answer(interactive(shell), "yes")
    assert "protected by policy: .envrc" in shown
    assert "not applied" not in shown
    assert not (shell.desk.project / ".envrc").exists()


def test_interactive_with_the_flag_says_how_to_answer_instead(shell):
    """No other flag is named that it would refuse."""
    refused = shell("apply", "-i", "--include-protected")

    assert refused.returncode == 2
    assert "the whole word yes" in refused.stderr


def test_interactive_without_a_terminal_is_refused(shell):
    """There is nobody to ask."""
    shell.work("echo x > n")

    assert shell("apply", "-i").returncode == 2


@pytest.mark.usefixtures("long")
def test_newer_work_of_both_sides_is_merged(shell):
    """After a look, the session's beginning is known; both edits arrive and none is lost."""
    shell("diff", "--stat")
    (shell.desk.project / "long").write_text(LINES.replace("8\n", "eight\n", 1))

    look = shell("diff")
    done = shell("apply")

    assert "both go together" in look.stderr
    assert done.returncode == 0, done.stderr
    lines = (shell.desk.project / "long").read_text().split()
    assert (lines[1], lines[7], lines[14]) == ("two", "eight", "fifteen")


@pytest.mark.usefixtures("long")
def test_overlapping_work_is_shown_and_decided_by_side(shell):
    """Nothing is applied before somebody says whose lines hold."""
    shell("diff", "--stat")
    (shell.desk.project / "long").write_text(LINES.replace("2\n", "zwei\n", 1))

    look, stopped = shell("diff"), shell("apply")

    for line in ("conflict 1 of 1, at line 2 of yours", "zwei", "two"):
        assert line in look.stdout
    assert stopped.returncode == 1
    assert "--theirs" in stopped.stderr
    assert shell("apply", "--theirs", "long", "--ours", "long").returncode == 2
    assert shell("apply", "--ours", "long", "--path", "long").returncode == 0
    lines = (shell.desk.project / "long").read_text().split()
    assert (lines[1], lines[14]) == ("zwei", "fifteen")


def test_without_a_known_beginning_the_box_wins_only_when_told(shell):
    """Nobody looked before the host moved on, so there is nothing to merge with."""
    shell.work("echo box > a.txt")
    (shell.desk.project / "a.txt").write_text("mine\n")

    assert shell("apply").returncode == 1
    kept = shell("apply", "--ours", "a.txt")
    assert kept.returncode == 0
    assert "your version is kept" in kept.stderr
    assert shell("apply", "--theirs", "a.txt").returncode == 0
    assert (shell.desk.project / "a.txt").read_text() == "box\n"
