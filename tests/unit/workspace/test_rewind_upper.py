import os
import stat
from contextlib import closing, contextmanager

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits
from orchestrator.workspace.rewind_upper import NEXT, clear_next, rebuild_upper
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_scan import scan
from orchestrator.workspace.snapshots_upper import UpperLayer, file_clock_ns
from orchestrator.workspace.tree import open_tree
from tests.support.budgets import folder_on_disk
from tests.support.plain_user import as_plain_user
from tests.support.workspaces import give


class Layer:
    """A session's folder without an engine: what is in upper, kept and made again."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.upper = folder / "upper"
        self.upper.mkdir()
        self.contents = Contents(folder / "contents")

    @contextmanager
    def opened(self):
        with (
            open_tree(self.upper) as tree,
            closing(UpperLayer(tree, Limits(), 2**20, file_clock_ns() + 10**9)) as layer,
        ):
            yield layer

    def look(self):
        with self.opened() as layer:
            return scan(layer, {}, self.contents, limits=Limits())

    def make(self, wanted):
        rebuild_upper(self.folder, wanted, present=self.look(), contents=self.contents)


@pytest.fixture
def layer(tmp_path):
    made = Layer(tmp_path)
    (made.upper / "d").mkdir(mode=0o711)
    (made.upper / "d" / "same").write_text("same")
    (made.upper / "changes").write_text("before")
    (made.upper / "changes").chmod(0o640)
    (made.upper / "link").symlink_to("nowhere")
    os.setxattr(made.upper / "changes", "user.note", b"mine")
    os.utime(made.upper / "d", (1, 1))
    return made


def same(first, second):
    assert first.keys() == second.keys()
    assert [p for p, piece in first.items() if not piece.same(second[p])] == []


def test_layer_is_made_again_whole(layer):
    """Contents, modes, times, attributes; nothing of what came later stays."""
    wanted = layer.look()
    (layer.upper / "changes").write_text("after, longer")
    os.removexattr(layer.upper / "changes", "user.note")
    (layer.upper / "d").rename(layer.upper / "e")
    (layer.upper / "link").unlink()
    (layer.upper / "link").mkdir()

    layer.make(wanted)

    same(layer.look(), wanted)
    assert not (layer.folder / NEXT).exists()


def test_file_that_stays_is_the_same_file(layer):
    """It is taken over, not copied."""
    wanted = layer.look()
    inode = (layer.upper / "d" / "same").stat().st_ino

    layer.make(wanted)

    assert (layer.upper / "d" / "same").stat().st_ino == inode
    assert (layer.upper / "d" / "same").stat().st_nlink == 1


def test_kept_content_is_no_file_of_the_box(layer):
    """A write in the box would change every snapshot."""
    wanted = layer.look()
    (layer.upper / "changes").write_text("after")
    layer.make(wanted)

    (layer.upper / "changes").write_text("written by the box")

    fd = layer.contents.open(wanted["changes"].sha256)
    assert os.read(fd, 100) == b"before"
    os.close(fd)


def test_content_that_was_not_kept_changes_nothing(layer):
    """The name and the reason are told."""
    wanted = layer.look()
    wanted["big"] = Piece("file", 0o644, 0, 0, 0, size=9, lost="it is larger than 5 bytes")
    before = layer.look()

    with pytest.raises(WorkspaceError, match=r"'big'.*larger than 5 bytes; nothing has changed"):
        layer.make(wanted)

    same(layer.look(), before)


def test_damaged_content_changes_nothing(layer):
    """A bit that turned on the disk is not given out as the person's file."""
    wanted = layer.look()
    (layer.upper / "changes").write_text("after")
    before = layer.look()
    (layer.folder / "contents" / wanted["changes"].sha256).write_text("before!")

    with pytest.raises(WorkspaceError, match="damaged"):
        layer.make(wanted)

    same(layer.look(), before)
    assert not (layer.folder / NEXT).exists()


def test_what_a_kill_left_half_built_is_cleared(layer):
    """Also directories that let nobody in."""
    half = layer.folder / NEXT / "shut"
    half.mkdir(parents=True)
    (half / "file").write_text("x")
    half.chmod(0)

    clear_next(layer.folder)

    assert not (layer.folder / NEXT).exists()


def test_special_files_are_made_again(layer):
    """A pipe and a socket, with their modes."""
    os.mkfifo(layer.upper / "pipe", 0o620)
    os.mknod(layer.upper / "socket", stat.S_IFSOCK | 0o600)
    wanted = layer.look()
    (layer.upper / "pipe").unlink()
    (layer.upper / "socket").unlink()

    layer.make(wanted)

    same(layer.look(), wanted)


@pytest.fixture
def reachable():
    """A session's folder that a plain user gets to."""
    with folder_on_disk() as folder:
        yield Layer(folder)


def test_directory_that_lets_nobody_in_is_made_again(reachable):
    """Its contents, and its mode, whether it is still there or not."""
    shut = reachable.upper / "shut"
    shut.mkdir()
    (shut / "f").write_text("inside")
    give(reachable.folder)
    shut.chmod(0o040)
    wanted = as_plain_user(reachable.look)

    def write():
        (reachable.upper / "more").write_text("after")
        reachable.make(wanted)

    as_plain_user(write)
    same(as_plain_user(reachable.look), wanted)
    assert stat.S_IMODE(shut.stat().st_mode) == 0o040

    def remove():
        shut.chmod(0o700)
        (shut / "f").unlink()
        shut.rmdir()
        reachable.make(wanted)

    as_plain_user(remove)
    same(as_plain_user(reachable.look), wanted)
    shut.chmod(0o700)
    assert (shut / "f").read_text() == "inside"
