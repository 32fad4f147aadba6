from orchestrator.schema.ids import SessionId
from orchestrator.workspace.bundle_header import RefusedBranch
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits, Commit, CommitFile
from orchestrator.workspace.commit_words import branch_lines, refused_lines, waiting_line

EVIL = "\x1b[2J\u202e\rx"
COMMIT = Commit("a" * 40, f"A{EVIL} <a@b>", "C <c@d>", "2026-01-01", f"Subject {EVIL}", 2)


def branch(files):
    return BoxBranch("main", "a" * 40, "glovebox/abc/main", (COMMIT,), files)


def test_every_text_of_the_box_is_escaped():
    """Author, subject and paths cannot move the cursor or reorder the line."""
    lines = list(branch_lines([branch((CommitFile(f"f{EVIL}"),))]))
    text = "\n".join(lines)

    assert not set("\x1b\u202e\r") & set(text)
    assert r"Subject \x1b[2J\u202e\rx" in text
    assert "committed by C <c@d>, merge" in text


def test_flagged_files_are_never_cut():
    """Thousands of plain files cannot push the dangerous one out of sight."""
    files = tuple(CommitFile(f"a{n:05}") for n in range(5000))
    last = CommitFile("zzz", protected="policy protects it", runs_on_host="git hook")

    lines = list(branch_lines([branch((*files, last))]))

    assert "    zzz  (runs on your machine: git hook; protected: policy protects it)" in lines
    assert lines[-1] == "    and 4900 more plain files"


def test_one_line_tells_what_waits():
    """A count, the branches, and the command; or why they cannot be had; or nothing."""
    session = SessionId("abc")

    assert waiting_line(BoxCommits(session)) == ""
    assert waiting_line(BoxCommits(session, (branch(()),))) == (
        "commits: 1 on main wait: glovebox apply --commits abc"
    )
    assert "\x1b" not in waiting_line(BoxCommits(session, trouble=EVIL))


def test_refused_branches_are_told_and_escaped():
    """Beside those that wait, or alone."""
    session, refused = SessionId("abc"), (RefusedBranch(EVIL, "odd"),)

    assert "(1 of its branches cannot be fetched)" in waiting_line(
        BoxCommits(session, (branch(()),), refused=refused)
    )
    assert "1 of its branches cannot" in waiting_line(BoxCommits(session, refused=refused))
    assert list(refused_lines(refused)) == [r"not fetched: \x1b[2J\u202e\rx: odd"]
