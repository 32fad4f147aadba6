import pytest

from orchestrator.workspace.plain_repositories import PlainRepositories


def owned(staying, asked, on_host=()):
    plain = PlainRepositories(staying, set(on_host).__contains__)
    return {path for path in asked if plain.own(path)}


@pytest.mark.parametrize("folder", ["", "b/", "docs/a/"])
def test_head_alone_marks_its_directory(folder):
    """Objects and refs may stand elsewhere, and may come with another apply."""
    paths = [folder + name for name in ("HEAD", "config", "commondir", "hooks/pre-commit")]

    assert owned(paths, [*paths, folder + "readme", "other/config"]) == set(paths)


def test_head_on_the_host_marks_what_comes_later():
    """A repository is as dangerous when it is put together in two steps."""
    assert owned(["a/config", "b/config"], ["a/config", "b/config"], ["a/HEAD"]) == {"a/config"}
    assert owned(["config"], ["config", "x"], ["HEAD"]) == {"config"}


def test_letters_do_not_hide_it():
    """Some file systems take them for the same."""
    assert owned(["a/head"], ["a/head", "a/Config"]) == {"a/head", "a/Config"}


def test_names_that_mean_something_elsewhere_stay_free():
    """Directories called config or objects are everywhere."""
    assert not owned(["src/config/x", "a/HEAD/x"], ["src/config/x", "a/HEAD/x", "objects/y"])
