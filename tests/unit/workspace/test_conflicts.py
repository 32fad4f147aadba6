from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from orchestrator.workspace.conflicts import APPEARED, CHANGED, GONE, SinceStart, find_conflicts
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.node import Change, Node, fingerprint
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write

NEW = Node("file", 0o644, size=3, sha256="new")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    write(tmp_path, {"f": "old", "d/x": "1"})
    return tmp_path


def start(host: Path) -> int:
    """A moment after everything in the directory, by the clock of files."""
    time.sleep(0.02)
    marker = host.parent / "marker"
    marker.write_text("")
    time.sleep(0.02)
    return marker.stat().st_ctime_ns


def node(host: Path, path: str) -> Node:
    with open_tree(host) as tree:
        return read_node(tree, path, plain_node(tree, path, tree.lstat(path)))


def checked(host: Path, started: int, *changes: Change, copied=(), applied=None) -> list[Change]:
    with open_tree(host) as tree:
        baseline = SinceStart(started, frozenset(copied), applied or {})
        return find_conflicts(changes, tree, baseline)


def modified(host: Path, path: str = "f") -> Change:
    return Change(path, "modified", node(host, path), NEW)


def test_untouched_file_has_no_conflict_and_its_state_is_noted(host):
    """What was seen is what a later step must find."""
    change = checked(host, start(host), modified(host))[0]

    assert change.conflict == ""
    assert change.seen.inode == (host / "f").stat().st_ino


def test_any_write_since_the_start_is_a_conflict(host):
    """Not even the old time of writing hides it: nobody can set the change time back."""
    started = start(host)
    before = (host / "f").stat()
    (host / "f").write_text("OLD")
    os.utime(host / "f", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert checked(host, started, modified(host))[0].conflict == CHANGED


def test_own_apply_is_no_conflict(host):
    """As long as the file still is what the session itself put there."""
    started = start(host)
    (host / "f").write_text("ours")
    ours = {"f": fingerprint(node(host, "f"))}
    change = modified(host)

    assert checked(host, started, change, applied=ours)[0].conflict == ""
    (host / "f").write_text("mine")
    assert checked(host, started, change, applied=ours)[0].conflict == CHANGED


def test_addition_meets_what_appeared_or_vanished(host):
    """A new name may be taken by now; a name that was copied up was there before."""
    started = start(host)

    assert checked(host, started, Change("f", "added", None, NEW))[0].conflict == APPEARED
    gone = Change("q", "added", None, NEW)
    assert checked(host, started, gone, copied=["q"])[0].conflict == GONE
    assert checked(host, started, gone)[0].conflict == ""


def test_what_the_host_has_already_is_left_out(host):
    """An equal file is no change, and neither is a deletion of what is gone."""
    started = start(host)
    same = Change("f", "modified", NEW, node(host, "f"))
    gone = Change("none", "deleted", NEW, None)

    assert checked(host, started, same, gone) == []


def test_file_below_what_is_no_directory_is_a_conflict(host):
    """Unless a change of the set makes it one."""
    started = start(host)
    inside = Change("f/in", "added", None, NEW)
    turned = Change("f", "type", node(host, "f"), Node("directory", 0o755))

    assert "no directory" in checked(host, started, inside)[0].conflict
    assert [c.conflict for c in checked(host, started, turned, inside)] == ["", ""]
