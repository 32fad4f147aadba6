import pytest

from orchestrator.workspace.globs import path_globs


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        (".git/hooks/**", ".git/hooks/pre-commit", True),
        (".git/hooks/**", "vendor/lib/.GIT/Hooks/x", True),
        (".git/hooks/**", ".git/hooks", True),
        (".git/**", ".gitignore", False),
        (".git/**", ".github/x", False),
        (".envrc", "a/b/.ENVRC", True),
        (".envrc", ".envrc.example", False),
        ("**/.env", ".env", True),
        ("*.pem", "keys/a.pem", True),
        ("*.pem", "a.pem/b", False),
    ],
)
def test_pattern_holds_at_any_depth_by_whole_components(pattern, path, matches):
    """A policy's pattern is about components, whatever their depth or case."""
    assert path_globs([pattern]).match(path) == matches


def test_what_is_below_a_match_is_covered():
    """A directory in the set takes its content along."""
    globs = path_globs(["secrets"])

    assert globs.covers("a/secrets/b/c")
    assert not globs.match("a/secrets/b/c")
    assert not globs.covers("a/secretsx/b")


@pytest.mark.parametrize(
    "pattern", [".git/hooks/**", "**/.env", "a/{b,c/d}", "x/[ab]c", "**/k*y", "a/**/b"]
)
@pytest.mark.parametrize("path", [".git/hooks", ".env", "a/b", "a/c/d", "x/ac", "kxy", "a/q/r/b"])
def test_quick_look_at_a_name_never_misses_a_match(pattern, path):
    """The shortcut of a scan may only ever say too often that a name is worth a look."""
    globs = path_globs([pattern])

    if globs.match(path):
        name = path.rpartition("/")[2]
        assert globs.may_end_in(name)
        assert globs.may_meet(["other", name, "more"])


def test_names_are_looked_at_together_without_being_mixed():
    """Neither the end of one name nor two in a row make a match."""
    globs = path_globs([".env", "*.pem", "K\u00e9y"])

    assert not globs.may_meet(["a.env", ".envrc", "env", "pem"])
    assert not globs.may_meet([])
    assert globs.may_meet(["x", "k\u00c9Y"])
    assert globs.may_meet(["a.PEM"])


def test_persons_choice_starts_at_the_top_and_minds_the_case():
    """--path src/a is not vendor/src/a."""
    globs = path_globs(["src/*.py"], anywhere=False)

    assert globs.match("src/a.py")
    assert not globs.match("vendor/src/a.py")
    assert not globs.match("SRC/a.py")


def test_empty_set_matches_nothing():
    """No pattern, no match."""
    assert not path_globs([]).match("a")
    assert not path_globs([]).may_end_in("a")


@pytest.mark.parametrize("pattern", ["/etc/x", "~/x", "a/../b", ""])
def test_pattern_that_leaves_the_workspace_is_an_error(pattern):
    """A pattern that cannot match must not be thought to protect."""
    with pytest.raises(ValueError, match="glob"):
        path_globs([pattern])
