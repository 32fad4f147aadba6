"""Deletes are judged by what is lost."""

import pytest

from tests.support.shell_reading import findings, risks


@pytest.mark.parametrize(
    "target", ["/", "//", "~", "$HOME", '"$HOME"/', "/usr", "/*", ".", "/workspace", "..", "~/.ssh"]
)
def test_losing_system_home_or_workspace_is_high(target):
    """No blanket yes answers these, however they are spelled."""
    assert "high" in {item.severity for item in findings(f"rm -rf {target}")}


@pytest.mark.parametrize("target", ["src", "a b", "*.o", '"$X"', "../x", "/tmp/x", ".git/config"])
def test_tree_unseen_or_outside_target_is_destructive(target):
    """A person is asked."""
    assert risks(f"rm -r {target}") == {"destructive"}


@pytest.mark.parametrize("target", ["a.txt", "-f a.txt", "a b", "./x/y.log", "'a b.txt'", "-- -x"])
def test_named_workspace_file_may_go(target):
    """Everyday clean-up is not asked about."""
    assert risks(f"rm {target}") == set()


def test_directory_counts():
    """A relative name is judged where it lands."""
    assert risks("cd /etc; rm hosts") == {"destructive"}
    assert risks("cd src; rm a") == set()
    assert risks("cd $X; rm a") == {"destructive"}


def test_delete_has_a_hint():
    """The model is told what to do instead."""
    assert all(item.hint for item in findings("rm -rf src"))
