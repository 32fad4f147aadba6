import os

from orchestrator.workspace.sweep import sweep
from tests.support.workspaces import write


def test_tree_deeper_than_any_path_is_removed(tmp_path):
    """Neither a path's length nor the stack is a limit."""
    top = tmp_path / "top"
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d" * 20, dir_fd=fd)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)

    assert sweep(top) == []
    assert not top.exists()


def test_links_are_removed_and_not_followed(tmp_path):
    """What they point to stays."""
    write(tmp_path, {"outside/x": "1", "top/a/b": "2"})
    (tmp_path / "top/a/link").symlink_to(tmp_path / "outside")

    assert sweep(tmp_path / "top") == []
    assert (tmp_path / "outside/x").read_text() == "1"


def test_directories_without_any_rights_are_removed(tmp_path):
    """Their owner may give the rights back."""
    write(tmp_path, {"top/a/b/c": "1"})
    (tmp_path / "top/a/b").chmod(0)
    (tmp_path / "top/a").chmod(0)

    assert sweep(tmp_path / "top") == []
    assert not (tmp_path / "top").exists()


def test_directory_that_is_not_there_is_no_error(tmp_path):
    """Twice removed is removed."""
    assert sweep(tmp_path / "none") == []
