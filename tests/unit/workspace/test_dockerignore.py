import pytest

from orchestrator.workspace.dockerignore import parse_dockerignore


@pytest.mark.parametrize(
    ("rules", "left_out", "kept"),
    [
        (
            "node_modules",
            ["node_modules", "node_modules/a/b"],
            ["src/node_modules", "node_modules2"],
        ),
        ("/build/", ["build", "build/x"], ["a/build"]),
        ("**/*.pyc", ["a.pyc", "x/y/b.pyc"], ["a.py"]),
        ("*.md\n!README.md", ["a.md"], ["README.md", "docs/a.md"]),
        ("docs\n!docs/keep.txt", ["docs", "docs/a"], ["docs/keep.txt"]),
        ("a?c", ["abc", "abc/d"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "cx"], ["dx"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("\\#x", ["#x"], ["x"]),
        ("# x\n\n  y  ", ["y"], ["x", "# x"]),
        ("./a/../b", ["b"], ["a"]),
        ("a/**", ["a/b", "a/b/c"], ["b"]),
        ("**", ["a", "a/b"], []),
        ("a.c", ["a.c"], ["abc"]),
    ],
)
def test_paths_are_left_out_as_docker_does(rules, left_out, kept):
    """The last rule that matches wins; a directory takes along what is in it."""
    found = parse_dockerignore(rules)

    assert [path for path in left_out if not found.leaves_out(path)] == []
    assert [path for path in kept if found.leaves_out(path)] == []


def test_exceptions_are_told():
    """With one, a directory that is left out must still be looked into."""
    assert parse_dockerignore("a\n!a/b").has_exceptions
    assert not parse_dockerignore("a").has_exceptions
