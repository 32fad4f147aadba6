import os
import stat

from orchestrator.workspace.prune import prune
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


def test_applied_files_go_and_others_stay(tmp_path):
    """Directories go with them when the host has them too and nothing else is in them."""
    upper, host = tmp_path / "upper", tmp_path / "host"
    write(upper, {"a/b/x": "1", "a/y": "2", "q/z": "3", ".git/HEAD": "4"})
    write(host, {"a/b/x": "1", "q/z": "3"})
    os.mknod(upper / "gone", stat.S_IFCHR, os.makedev(0, 0))

    with open_tree(upper) as up, open_tree(host) as down:
        prune(up, down, ["a/b/x", "q/z", "gone"])

    left = {str(path.relative_to(upper)) for path in upper.rglob("*")}
    assert left == {"a", "a/y", ".git", ".git/HEAD"}


def test_opaque_directory_keeps_its_files(tmp_path):
    """Without them it would hide the host's."""
    upper, host = tmp_path / "upper", tmp_path / "host"
    write(upper, {"d/e/x": "1"})
    write(host, {"d/e/x": "1"})
    os.setxattr(upper / "d", "user.overlay.opaque", b"y")

    with open_tree(upper) as up, open_tree(host) as down:
        prune(up, down, ["d/e/x"])

    assert (upper / "d/e/x").exists()
