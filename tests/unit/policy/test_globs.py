"""Path globs."""

import fnmatch
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.policy.globs import (
    check_glob,
    check_relative_glob,
    compile_globs,
    folded,
    folders_above,
    name_glob,
    normal_path,
    within,
)


def _globs(*patterns: str, fold: bool = True):
    return compile_globs(patterns, fold=fold, workspace="/workspace", home="/home/agent")


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**/.env", "/workspace/.env"),
        ("**/.env", "/workspace/a/b/.env"),
        ("**/.git/**", "/workspace/.git"),
        ("**/.git/**", "/workspace/sub/.git/hooks/pre-commit"),
        (".git/hooks/**", "/workspace/.git/hooks/x"),
        ("src/*.py", "/workspace/src/a.py"),
        ("src/?.py", "/workspace/src/a.py"),
        ("**/*.{key,pem}", "/workspace/a/server.key"),
        ("**/[a-c].txt", "/workspace/b.txt"),
        ("**/[!a-c].txt", "/workspace/d.txt"),
        ("~/.bashrc", "/home/agent/.bashrc"),
        ("/etc/**", "/etc/passwd"),
        ("**", "/workspace/anything/at/all"),
        ("**/a/**/b", "/workspace/x/a/y/z/b"),
        ("*.code-workspace", "/workspace/.code-workspace"),
    ],
)
def test_glob_matches_the_paths_it_describes(glob, path):
    """The language does what its docstring says."""
    assert _globs(glob).match(path) == glob


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**/.env", "/workspace/.env.example"),
        ("**/.env", "/workspace/my.env"),
        ("**/.git/**", "/workspace/.gitignore"),
        ("**/.git/**", "/workspace/x.git/config"),
        (".git/hooks/**", "/workspace/sub/.git/hooks/x"),
        ("src/*.py", "/workspace/src/a/b.py"),
        ("src/?.py", "/workspace/src//.py"),
        ("**/[!a].txt", "/workspace/x/"),
        ("~/.bashrc", "/workspace/.bashrc"),
        ("**", "/workspacex/a"),
        ("**/.env", "/elsewhere/.env"),
        ("a.b", "/workspace/aXb"),
    ],
)
def test_glob_leaves_other_paths_alone(glob, path):
    """A component is matched whole, never a prefix of it."""
    assert _globs(glob).match(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "/workspace/.GIT/config",
        "/workspace/.Git",
        "/workspace/.g\u200cit/config",
        "/WORKSPACE/.git",
    ],
)
def test_folded_globs_see_through_case_and_invisible_characters(path):
    """A file system that ignores case must not open a way round."""
    assert _globs("**/.git/**").match(path) == "**/.git/**"
    assert _globs("**/.git/**", fold=False).match(path) is None


def test_several_globs_name_the_one_that_matched():
    """The reason can cite the glob, not the list."""
    globs = _globs("a", "b/**", "b/c")

    assert globs.match("/workspace/b/c") == "b/**"
    assert globs.match("/workspace/d") is None
    assert _globs().match("/workspace/a") is None


@pytest.mark.parametrize(
    "glob",
    [
        "",
        "/",
        "~",
        "a//b",
        "a/../b",
        "./a",
        "a\x00",
        "**/a/**/b/**/c",
        "*a*b*c*d*e*f*g*h*i",
        "[z-a]",
    ],
)
def test_malformed_or_costly_globs_are_refused(glob):
    """A glob that cannot be matched cheaply and clearly is an error at load."""
    with pytest.raises(ValueError, match="glob"):
        check_glob(glob)


@pytest.mark.parametrize("glob", ["/etc/**", "~/.bashrc"])
def test_workspace_globs_stay_in_the_workspace(glob):
    """Protected and hidden speak of the project alone."""
    with pytest.raises(ValueError, match="relative"):
        check_relative_glob(glob)


@pytest.mark.parametrize(
    ("path", "normal"),
    [("a/../b", "/w/b"), ("/a//b/.", "/a/b"), ("//etc", "/etc"), ("../x", "/x"), ("", "/w")],
)
def test_normal_path_drops_dots_and_doubled_slashes(path, normal):
    """Two spellings of a path are one path."""
    assert normal_path(path, "/w") == normal


def test_within_compares_names_and_not_prefixes():
    """/ws/ab is not inside /ws/a."""
    assert within("/ws/a", "/ws/a")
    assert within("/ws/a/b", "/ws/a/")
    assert not within("/ws/ab", "/ws/a")


@given(st.text(alphabet="ab*?.", min_size=1, max_size=8), st.text(alphabet="ab.", max_size=8))
def test_name_glob_agrees_with_the_shell_notion_of_stars(glob, name):
    """The twin: stars and question marks mean what they mean everywhere."""
    assert bool(name_glob(glob).match(name)) == fnmatch.fnmatchcase(name, glob)


@given(st.lists(st.sampled_from(["a", "b", ".git", "x.git", "hooks"]), min_size=1, max_size=6))
def test_double_star_finds_a_component_at_any_depth(parts):
    """The twin: ``**/.git/**`` matches exactly the paths that have a component .git."""
    path = posixpath.join("/workspace", *parts)

    assert bool(_globs("**/.git/**").match(path)) == (".git" in parts)


@given(st.text(max_size=30))
def test_folding_is_stable(text):
    """Folding twice changes nothing more, for plain letters in any case."""
    assert folded(folded(text).lower()) == folded(folded(text))


def test_a_shells_pattern_may_stand_for_a_name_that_a_glob_spells_out():
    """A name with a dot in front is only met by a pattern with one, as in bash."""
    globs = _globs("**/.git/**", "**/.github/workflows/**", "**/mise.toml")

    assert globs.may_match("/workspace/.gi*/hooks/y") == "**/.git/**"
    assert globs.may_match("/workspace/.[Gg]it/config") == "**/.git/**"
    assert globs.may_match("/workspace/.github/w*/y.yml") == "**/.github/workflows/**"
    assert globs.may_match("/workspace/.git/config") == "**/.git/**"
    assert globs.may_match("/workspace/*/config") is None
    assert globs.may_match("/workspace/*.toml") is None
    assert globs.may_match("/workspace/.x*/y") is None


def test_named_folders_above_are_found():
    """To move one is to move what lies in it."""
    above = folders_above(["**/.github/workflows/**", "~/.config/x", "**/.envrc", "a/*/b"])

    assert above == ("**/.github", "**/.github/workflows", "~/.config", "a")
