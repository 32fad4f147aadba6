import pytest

from orchestrator.workspace.git_names import is_git_name, moved_repository


@pytest.mark.parametrize(
    "name",
    [".git", ".GIT", ".Git", "git~1", "GIT~2", ".git.", ".git ", ".git. .", ".git::$INDEX_ALLOCATION",
     ".git\\hooks", ".g\u200cit", "\ufeff.git", "x\\.git"],
)  # fmt: skip
def test_what_a_host_takes_for_git_is_found(name):
    """Case, short names, dropped endings, streams and ignored characters lead to one directory."""
    assert is_git_name(name)


@pytest.mark.parametrize("name", ["git", ".gitignore", ".github", "git~", "a.git", ".gitx", "gi~1"])
def test_other_names_are_other_names(name):
    """Repositories named something.git are daily work."""
    assert not is_git_name(name)


def test_moved_repository_is_named_by_branch_files():
    """Objects and the index say nothing about branches."""
    assert moved_repository(".git/refs/heads/main") == {""}
    assert moved_repository("sub/dir/.git/HEAD") == {"sub/dir"}
    assert moved_repository(".git/packed-refs") == {""}
    assert moved_repository(".git/index") == frozenset()
    assert moved_repository(".git/refs/tags/v1") == frozenset()
    assert moved_repository("src/HEAD") == frozenset()
