"""Makefiles inside a command."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "make -f - <<'E'\nall:\n\tgit push\nE",
        "make -f - <<< 'all:;@git push'",
        "make --eval 'x:;-git push' x",
        "make --eval '$(shell git push)'",
        "make --eval 'A != git push'",
        "printf 'all:\\n\\tgit push\\n' > m; make -f m",
    ],
)
def test_recipe_is_shell_text(command):
    """Rules run what they say."""
    assert "publishes" in risks(command)


def test_recipe_with_a_variable_of_make_is_read_around_it():
    """``$@`` of make is not the shell's."""
    assert risks("make -f - <<'E'\na: b\n\tcp $< $@\nE") == set()
