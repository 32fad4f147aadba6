"""The shell's state: paths and what a branch leaves behind."""

import pytest

from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scope import Places, Scope


def scope(cwd="/workspace"):
    return Scope(Places("/home/agent", "/workspace"), cwd)


@pytest.mark.parametrize(
    ("cwd", "path", "expected"),
    [
        ("/workspace", "a/../b", "/workspace/b"),
        ("/workspace", "../x", "/x"),
        ("/workspace", "/a//b/.", "/a/b"),
        ("/workspace", "//", "/"),
        ("/workspace", "~/x", "/home/agent/x"),
        ("/workspace", "~root/x", "/root/x"),
        (None, "a", None),
        (None, "/a", "/a"),
        ("/workspace", DYNAMIC + "/a", None),
    ],
)
def test_path_is_made_absolute_or_stays_unknown(cwd, path, expected):
    """A path is never guessed."""
    assert scope(cwd).absolute(path) == expected


def test_merge_keeps_what_is_sure_and_forgets_the_rest():
    """After a branch only what both ways agree on is known."""
    before = scope()
    before.assign("A", "1")
    after = before.fork()
    after.assign("A", "2")
    after.assign("B", "3")
    after.merge(before)
    assert (after.lookup("A"), after.lookup("B")) == (DYNAMIC, DYNAMIC)


def test_merge_of_directories_keeps_the_outer_one_inside_the_workspace():
    """Deletes are judged against the less harmless of the two."""
    after = scope("/workspace/a")
    after.merge(scope("/workspace"))
    away = scope("/tmp")
    away.merge(scope("/workspace"))
    assert (after.cwd, away.cwd) == ("/workspace", None)


def test_fork_shares_files_and_nothing_else():
    """A subshell changes the disk, not its parent's variables."""
    parent = scope()
    child = parent.fork()
    child.assign("A", "1")
    child.fetched.add("/workspace/r")
    assert (parent.lookup("A"), parent.fetched_into("/workspace/r/x")) == (DYNAMIC, True)
