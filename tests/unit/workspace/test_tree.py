import os
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


@pytest.fixture(params=[True, False], ids=["openat2", "by component"])
def tree(request, tmp_path: Path):
    root = tmp_path / "root"
    write(root, {"a": "1", "d/b": "2", "d/e/c": "3"})
    (root / "link").symlink_to("d")
    os.mkfifo(root / "fifo")
    with open_tree(root, openat2=request.param) as opened:
        yield opened


def test_names_are_looked_at_without_following(tree):
    """A link is a link, and below a link there is nothing."""
    assert tree.lstat("d/b").st_size == 1
    assert tree.lstat("none") is None
    assert tree.lstat("link/b") is None
    assert tree.lstat("a/b") is None
    assert tree.read_link("link") == "d"


def test_only_regular_files_are_opened_and_none_blocks(tree):
    """A FIFO without a writer is refused at once."""
    with tree.file("a") as fd:
        assert os.read(fd, 9) == b"1"
    for name in ("fifo", "d", "link"):
        with pytest.raises(OSError, match=r"regular|symbolic"):
            tree.file(name).__enter__()


def test_walk_yields_directories_before_their_content(tree):
    """Links are told, not followed; what is not entered is told too."""
    everything = [found.path for found in tree.walk("", enter=lambda _: True)]
    closed = [found.path for found in tree.walk("", enter=lambda found: found.path != "d/e")]

    assert set(everything) == {"a", "d", "d/b", "d/e", "d/e/c", "fifo", "link"}
    assert everything.index("d/e") < everything.index("d/e/c")
    assert set(everything) - set(closed) == {"d/e/c"}


def test_parent_is_opened_with_the_name(tree):
    """A name at the top has the root as its parent."""
    with tree.parent("d/e/c") as (fd, name):
        assert os.stat(name, dir_fd=fd).st_size == 1
    with tree.parent("a") as (fd, name):
        assert name == "a"
        assert os.fstat(fd).st_ino == os.fstat(tree.fd).st_ino


@pytest.mark.parametrize("name", ["none", "file", "link"])
def test_root_that_is_no_directory_is_an_error(tmp_path, name):
    """Not even the root itself is a link."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)

    with pytest.raises(WorkspaceError, match="cannot be opened"):
        open_tree(tmp_path / name).__enter__()
