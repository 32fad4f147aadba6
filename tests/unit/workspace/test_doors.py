"""Sockets, pipes and devices are found wherever they are, and what cannot be looked into counts."""

import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.doors import (
    MOST_DOORS,
    Door,
    check_doors,
    door_covers,
    door_notice,
    find_doors,
)
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import nest, write


def found(root, closed=()):
    with open_tree(root) as tree:
        return {door.path: door.kind for door in find_doors(tree, closed=closed)}


@pytest.fixture
def root():
    """A short path: a socket's address may not be long."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        yield Path(folder)


def bound(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def test_each_kind_is_found_and_nothing_else(root):
    """Files, directories and links are no doors, wherever the links lead."""
    write(root, {"a.txt": "a", "deep/er/b.txt": "b"})
    bound(root / "deep/er/s")
    os.mkfifo(root / "deep/p")
    (root / "link").symlink_to("deep/p")
    (root / "out").symlink_to("/dev")

    assert found(root) == {"deep/er/s": "socket", "deep/p": "pipe"}
    assert found(root, closed={"deep/er"}) == {"deep/p": "pipe"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_device_is_one_and_the_mark_of_a_deleted_file_is_none(root):
    """An overlay's own whiteouts lead nowhere."""
    os.mknod(root / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.mknod(root / "loop", stat.S_IFBLK | 0o666, os.makedev(7, 0))
    os.mknod(root / "whiteout", stat.S_IFCHR, 0)

    assert found(root) == {"loop": "device", "null": "device"}


def test_door_made_anew_is_another_and_a_used_one_is_not(root):
    """Also where the new one gets the old one's number."""

    def identity():
        with open_tree(root) as tree:
            [door] = find_doors(tree)
        return door.identity

    os.mkfifo(root / "p")
    first = identity()
    fd = os.open(root / "p", os.O_RDWR)
    os.write(fd, b"x")
    os.close(fd)
    assert identity() == first
    for _ in range(20):
        (root / "p").unlink()
        os.mkfifo(root / "p")
        assert identity() != first


LIST = """
import os, sys
from pathlib import Path
from orchestrator.workspace.doors import find_doors
from orchestrator.workspace.tree import open_tree
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with open_tree(Path(sys.argv[1])) as tree:
    print([(door.path, door.is_directory) for door in find_doors(tree)])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to be closed out")
def test_directory_that_cannot_be_listed_counts(root):
    """Its owner in the box could open it; who may enter it needs no list."""
    write(root, {"shut/a": "", "entered/a": "", "open/a": ""})
    root.chmod(0o755)
    (root / "shut").chmod(0o700)
    (root / "entered").chmod(0o711)

    told = subprocess.run(
        [sys.executable, "-c", LIST, str(root)], capture_output=True, text=True, check=True
    )

    assert told.stdout.strip() == "[('entered', True), ('shut', True)]"


def test_bottomless_directory_counts(root):
    """Whoever goes down step by step gets further than a path can say."""
    nest(root)

    [(path, kind)] = found(root).items()

    assert path.startswith("d" * 200)
    assert kind == "directory that cannot be looked into"
    with pytest.raises(WorkspaceError, match=r"a path of \d+ bytes") as caught:
        check_doors([Door(path, kind, "")], named="here", hint="go there")
    assert "go there; or remove it" in caught.value.hint


def test_covers_are_read_only_and_fit_what_they_cover(tmp_path):
    """A file over a socket, a directory over a directory."""
    doors = [Door("a b/s", "socket", ""), Door("shut", "directory that cannot be looked into", "")]

    covers = door_covers(doors, "/dirs/x", tmp_path)

    assert [(mount.target, mount.read_only) for mount in covers] == [
        ("/dirs/x/a b/s", True),
        ("/dirs/x/shut", True),
    ]
    assert [Path(mount.source).is_dir() for mount in covers] == [False, True]


def test_more_than_can_be_covered_are_refused_with_some_names():
    """With the way out."""
    doors = [Door(f"s{number}", "socket", "") for number in range(MOST_DOORS + 1)]

    check_doors(doors[:-1], named="here", hint="there")
    with pytest.raises(WorkspaceError, match=r"here: 65 .*'s0' \(socket\).* 60 more") as caught:
        check_doors(doors, named="here", hint="go there")
    assert caught.value.hint.startswith("go there; or remove")


def test_name_that_the_engine_cannot_take_is_refused(tmp_path):
    """Its cover would land on another name."""
    with pytest.raises(WorkspaceError, match="no UTF-8"):
        door_covers([Door("s\udcff", "socket", "")], "/workspace", tmp_path)


def test_notice_is_one_line_and_none_where_nothing_is_covered():
    """The person hears of what the box misses."""
    doors = [Door(f"s{number}", "socket", "") for number in range(7)]

    assert door_notice([], "workspace") == ()
    [line] = door_notice(doors, "workspace")
    assert line.startswith("workspace: covered, so that")
    assert line.endswith("'s4' (socket), and 2 more")
