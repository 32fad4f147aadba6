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


@pytest.mark.parametrize(
    "command",
    [
        'rm -rf "$X"/',
        "rm -rf $X/*",
        'rm -rf "${X}"/*',
        'rm -rf "$X"/lib/*',
        "cat f | xargs rm -rf",
        "xargs -I{} rm -rf {} < f",
        "cat f | grep x | sort | xargs -n1 rm -rf",
        "rm -rf $(cat f)",
        'find "$X" -exec rm -rf {} +',
        'find "$X" -delete',
        "git -C .. clean -ffdx",
        "cd /srv/x && git clean -fdx",
        "git --work-tree=.. clean -fdx",
        'rimraf "$X"/*',
        'cmake -E remove_directory "$X"/',
        'find "$X"/* -delete',
        "python3 -c \"import shutil, os; shutil.rmtree(os.environ['X'] + '/')\"",
    ],
)
def test_what_may_come_to_far_more_is_high(command):
    """Where the variable is empty or the list is another one, nobody meant what is lost."""
    assert "high" in {item.severity for item in findings(command)}


@pytest.mark.parametrize(
    "command",
    [
        'rm -rf "$X"',
        'rm -rf "$X"/build',
        'rm -rf "$A/$B"',
        "rm -rf build/$X",
        "rm -rf ${X:?}/*",
        "rm -rf ${X:-build}/*",
        "X=build; rm -rf $X/*",
        'X=$(mktemp -d); rm -rf "$X"/*',
        "for d in a b; do rm -rf $d/*; done",
        'for d in */; do rm -rf "$d"/*; done',
        "find . -name x | grep y | xargs rm -rf",
        "find -name a -exec rm -rf {} +",
        "find \"$X\" -name '*.pyc' -delete",
        "fd -e pyc -X rm -rf",
        "git -C sub clean -fdx",
    ],
)
def test_what_cannot_come_to_more_is_not_high(command):
    """A known value, a checked one, or names that lie in the workspace."""
    assert {item.severity for item in findings(command)} == {"ask"}


def test_directory_counts():
    """A relative name is judged where it lands."""
    assert risks("cd /etc; rm hosts") == {"destructive"}
    assert risks("cd src; rm a") == set()
    assert risks("cd $X; rm a") == {"destructive"}


@pytest.mark.parametrize("program", ["git -C .. status", "make -C /srv all", "tar -C /tmp -xf a"])
def test_option_that_moves_a_program_does_not_move_the_shell(program):
    """What comes after it works where it did before."""
    assert "destructive" not in risks(f"{program}; rm a")


def test_delete_has_a_hint():
    """The model is told what to do instead."""
    assert all(item.hint for item in findings("rm -rf src"))
