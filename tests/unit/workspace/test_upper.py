from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

import pytest

from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.node import Limits, Observed
from orchestrator.workspace.tree import open_tree
from orchestrator.workspace.upper import read_upper
from tests.support.workspaces import write


@pytest.fixture
def layers(tmp_path: Path) -> tuple[Path, Path]:
    """A host directory, and an upper directory to be made up by hand."""
    upper, host = tmp_path / "upper", tmp_path / "host"
    write(host, {"a": "1", "d/x": "2", "d/.env": "s", "d/.git/HEAD": "h", "d/e/y": "3"})
    upper.mkdir()
    return upper, host


def whiteout(path: Path) -> None:
    os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))


def read(layers: tuple[Path, Path], limits: Limits | None = None) -> Observed:
    with open_tree(layers[0]) as upper, open_tree(layers[1]) as host:
        return read_upper(upper, host, hidden=path_globs(["**/.env"]), limits=limits or Limits())


def test_whiteout_deletes_all_that_the_box_could_see(layers):
    """Hidden files and nested repositories below it were never seen, and keep their directory."""
    whiteout(layers[0] / "d")

    found = read(layers)

    assert set(found.base) == {"d", "d/x", "d/e", "d/e/y"}
    assert found.box == {}
    assert found.kept == {"d"}


def test_opaque_directory_hides_what_is_beneath(layers):
    """Only under its own mark; a merged directory hides nothing."""
    write(layers[0], {"d/new": "n"})
    assert set(read(layers).base) == {"d"}

    os.setxattr(layers[0] / "d", "user.overlay.opaque", b"y")
    assert set(read(layers).base) == {"d", "d/x", "d/e", "d/e/y"}


@pytest.mark.parametrize("mark", ["user.overlay.overlay.opaque", "user.opaque"])
def test_lookalike_of_a_mark_means_nothing(layers, mark):
    """A box's own attributes arrive under an escaped name."""
    write(layers[0], {"d/new": "n"})
    os.setxattr(layers[0] / "d", mark, b"y")

    assert set(read(layers).base) == {"d"}


def test_what_is_inside_git_is_counted_and_its_dangers_named(layers):
    """No node of it goes further."""
    write(layers[0], {".git/config": "[core]\nfsmonitor = ./x\n", ".git/a/b": "", "s/.git/c": ""})

    found = read(layers)

    assert found.inside_git == 3
    assert found.git_settings == ("core.fsmonitor = ./x",)
    assert set(found.box) == {"s"}


def test_directory_in_place_of_a_file_is_seen_whole(layers):
    """The host's file is the base, and what is in the directory is new."""
    write(layers[0], {"a/in": "x"})

    found = read(layers)

    assert found.base["a"].type == "file"
    assert found.box["a"].type == "directory"
    assert "a/in" not in found.base


def test_largest_contents_are_left_and_the_rest_comes_out(layers):
    """No file of the host looks deleted for that, and each that is left says why."""
    write(layers[0], {"a": "changed", "d/x": "x" * 600, "d/new": "y" * 500, "small": "z" * 300})

    found = read(layers, Limits(bytes=800))

    assert found.box["a"].sha256
    assert found.box["small"].sha256
    for path in ("d/new", "d/x"):
        assert "one of 2 files that are left" in found.box[path].trouble
    assert set(found.base) <= set(found.box)


def test_single_giant_is_refused(layers):
    """Whatever the others hold."""
    write(layers[0], {"3": "x" * 100})

    assert "larger than 10" in read(layers, Limits(file_bytes=10)).box["3"].trouble


@pytest.mark.parametrize("heap", ["", "d/", "made/"])
def test_too_many_new_names_are_left_and_the_rest_comes_out(layers, heap):
    """Edits and deletions of the host's files come out of the crowded directory too."""
    write(layers[0], {f"{heap}{number}": "" for number in range(50)})
    write(layers[0], {"a": "changed", "src/new": "n", "d/z/deep": ""})
    whiteout(layers[0] / "d/x")

    found = read(layers, Limits(entries=20))

    (left,) = [path for path, node in found.box.items() if node.trouble]
    assert left.rpartition("/")[0] == heap.rstrip("/")
    assert "new names in its directory that are left" in found.box[left].trouble
    assert len(found.box) < 20
    assert found.box["a"].sha256
    assert ("src/new" in found.box) == bool(heap)
    assert set(found.base) - set(found.box) == {"d/x"}


def test_removal_of_too_many_names_is_refused(layers):
    """It is the person's to remove them; nothing of them is listed."""
    write(layers[1], {f"d/many/{number}": "" for number in range(50)})
    (layers[0] / "d").mkdir()
    whiteout(layers[0] / "d/many")
    write(layers[0], {"d/e/new": ""})
    os.setxattr(layers[0] / "d/e", "user.overlay.opaque", b"y")
    write(layers[1], {f"d/e/{number}": "" for number in range(50)})

    found = read(layers, Limits(entries=20))

    assert "remove it yourself" in found.box["d/many"].trouble
    assert "remove it yourself" in found.box["d/e"].trouble
    assert set(found.base) == {"d", "d/many", "d/e"} == set(found.box)


def test_directory_that_is_not_looked_into_deletes_nothing(layers):
    """What the box has below it is not known."""
    write(layers[0], {"d/e/new": ""})

    found = read(layers, Limits(depth=2))

    assert "nested deeper" in found.box["d/e"].trouble
    assert set(found.base) == {"d", "d/e"}


def test_crowded_repository_is_counted_and_may_hold_commits(layers):
    """Its names have a count of their own, and a branch may be among those not looked at."""
    write(layers[0], {f"sub/.git/objects/{number}": "" for number in range(50)})
    write(layers[0], {"a": "changed"})

    found = read(layers, Limits(entries=20))

    assert found.box["a"].sha256
    assert found.inside_git == 50
    assert found.moved_repositories == {"sub"}


def test_sparse_giant_is_not_read(layers):
    """A terabyte of holes costs its writer nothing and must cost us nothing."""
    with (layers[0] / "giant").open("wb") as file:
        file.truncate(1 << 40)

    assert "larger than" in read(layers).box["giant"].trouble


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every mode")
@pytest.mark.parametrize("mode", [0, 0o600])
def test_what_nobody_may_read_is_a_trouble(layers, mode):
    """A box can take its own rights away; with 0600 the names are told, and nothing else."""
    write(layers[0], {"f": "x", "shut/g": "x"})
    (layers[0] / "f").chmod(0)
    (layers[0] / "shut").chmod(mode)

    found = read(layers)
    (layers[0] / "shut").chmod(0o700)

    assert "lets nobody read" in found.box["f"].trouble
    assert "lets nobody list" in found.box["shut"].trouble


def marked(path: Path, handle: tuple[int, bytes]) -> None:
    """Give a file the mark that the kernel gives to what it copied up."""
    kind, data = handle
    head = struct.pack("=BBBBB16s", 0, 0xFB, 21 + len(data), 0, kind, bytes(16))
    os.setxattr(path, "user.overlay.origin", head + data)


def handle_of(root: Path, path: str) -> tuple[int, bytes]:
    with open_tree(root) as tree:
        found = tree.handle(path)
    assert found is not None
    return found


def test_moved_file_is_no_file_that_the_host_deleted(layers):
    """Its mark names a host file that is still there, under the name it had."""
    upper, host = layers
    write(upper, {"moved": "1"})
    marked(upper / "moved", handle_of(host, "a"))
    whiteout(upper / "a")

    assert read(layers).copied_up == frozenset()


def test_new_host_file_with_the_inode_of_a_deleted_one_is_another(layers):
    """The handle tells the generations of an inode apart."""
    upper, host = layers
    kind, data = handle_of(host, "a")
    write(upper, {"deleted": "1", "a": "box"})
    inode, generation = struct.unpack("=II", data)
    assert inode == (host / "a").stat().st_ino
    marked(upper / "deleted", (kind, struct.pack("=II", inode, generation ^ 1)))

    assert read(layers).copied_up == {"deleted"}
