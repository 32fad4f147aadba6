"""Names and texts of Python expressions."""

import ast

import pytest

from orchestrator.shell.languages.python_names import Names


def names_of(code):
    tree = ast.parse(code)
    names = Names.collect(list(ast.walk(tree)))
    return names, tree.body[-1].value


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import a.b\na.b.c", "a.b.c"),
        ("import a as x\nx.y", "a.y"),
        ("from a import b as x\nx", "a.b"),
        ("x = y\nx", "y"),
        ("x = 1\nx = y\nx.z", "x.z"),
        ("f()()", "f()()"),
        ("'a'.join", "str.join"),
        ("(lambda: 0).x", "?.x"),
    ],
)
def test_dotted_name_is_followed(code, expected):
    """A name that is set twice is not followed: nobody knows which."""
    names, node = names_of(code)
    assert names.dotted(node) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("'a' + 'b'", "ab"),
        ("f'a{1}b'", "a\ufffcb"),
        ("x = 'a'\nx", "a"),
        ("b'a'", "a"),
        ("Path('a') / 'b'", "a/b"),
        ("os.path.join('a', 'b')", "a/b"),
        ("Path.home()", "~"),
        ("g()", "\ufffc"),
    ],
)
def test_text_is_folded_where_it_is_constant(code, expected):
    """All else is not static."""
    names, node = names_of(code)
    assert names.text(node) == expected
