import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.matches import find_matches
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import nest, write


def test_topmost_matches_are_found_at_any_depth(tmp_path):
    """What is below a match is not looked at, and links are not followed."""
    write(tmp_path, {".env": "", "a/b/.ENV": "", "keys/x/y": "", "keys/keys": "", "q": ""})
    (tmp_path / "link").symlink_to("a")

    with open_tree(tmp_path) as tree:
        found = set(find_matches(tree, path_globs([".env", "keys/**"])))

    assert found == {".env", "a/b/.ENV", "keys"}


def test_nothing_is_read_without_patterns(tmp_path):
    """An empty set costs no walk."""
    with open_tree(tmp_path) as tree:
        tmp_path.rmdir()
        assert list(find_matches(tree, path_globs([]))) == []


def test_directory_deeper_than_a_path_is_refused_or_passed_over(tmp_path):
    """Nobody can tell what is in it; who closes it otherwise goes on."""
    write(tmp_path, {"a/.env": ""})
    nest(tmp_path)
    globs = path_globs([".env"])

    with open_tree(tmp_path) as tree:
        assert list(find_matches(tree, globs, pass_deep=True)) == ["a/.env"]
        with pytest.raises(WorkspaceError, match="nested deeper"):
            list(find_matches(tree, globs))
