import pytest

from orchestrator.workspace.removal import unlink_all, unlink_paths
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write


@pytest.mark.parametrize("count", [3, 200])
def test_all_names_are_gone_and_others_stay(tmp_path, count):
    """Few or many; what is gone already does not matter."""
    write(tmp_path, {**{f"d/{number}": "x" for number in range(count)}, "d/stays": "x"})
    with open_tree(tmp_path / "d") as tree:
        unlink_all(tree.fd, [*(str(number) for number in range(count)), "none"])

    assert [path.name for path in (tmp_path / "d").iterdir()] == ["stays"]


def test_failure_of_one_among_many_is_raised(tmp_path):
    """Nobody takes a directory that is still full for an empty one."""
    write(tmp_path, {str(number): "x" for number in range(100)})
    (tmp_path / "dir").mkdir()

    with open_tree(tmp_path) as tree, pytest.raises(OSError, match="dir"):
        unlink_paths(tree, [*(str(number) for number in range(100)), "dir"])
