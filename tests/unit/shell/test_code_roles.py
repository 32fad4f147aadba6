"""Options and files that make a harmless tool run something."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "tar xf a --to-command=./x",
        "tar cf a --checkpoint=1 --checkpoint-action=exec=./x b",
        "tar -I./x -xf a",
        "sort --compress-program=./x f",
        "rg --pre=./x y",
        "man -P './x' y",
        "rsync -e './x' a b",
        "split --filter=./x f",
        "git grep -O./x y",
        "git difftool -x ./x",
        "go test -exec ./x ./...",
        "bat --pager=./x f",
        "less '+!x' f",
        "zip -T -TT ./x a b",
        "ssh -F ./cfg h.example",
        "pandoc --filter ./x a",
        "awk -l ./x 1",
        "gcc -fplugin=./x.so a.c",
        "java -javaagent:x.jar A",
        "curl -K cfg",
        "make -f /srv/x.mk",
    ],
)
def test_option_that_runs_or_loads_something_is_remote_code(command):
    """Nobody expects a search or an archive to run programs."""
    assert "remote_code" in risks(command)


@pytest.mark.parametrize(
    "command",
    [
        "tar -I zstd -xf a",
        "tar --checkpoint=1 --checkpoint-action=dot -xf a",
        "sort --compress-program=gzip f",
        "man -P cat y",
        "rsync -e ssh h.example:a b",
        "pytest -c pytest.ini",
        "make -f Makefile.ci",
    ],
)
def test_plain_value_of_such_an_option_is_fine(command):
    """Well-known compressors, pagers and the work's own settings."""
    assert risks(command) == set()


def test_what_the_option_runs_is_read_in_turn():
    """The finding names both the trick and the deed."""
    assert {"remote_code", "publishes"} <= risks("tar xf a --to-command='git push'")


def test_module_is_the_program_of_its_name():
    """``python -m pip`` is pip."""
    assert risks("python -m pip install x") == risks("pip install x") == {"remote_code"}
    assert risks("python -m pytest") == set()


def test_a_trap_is_read_with_what_is_known_at_the_end():
    """It runs when the shell ends, whatever it saw before."""
    assert "opaque" in risks("x=ls; trap '$x \"$y\"' EXIT; x=$Z")
    assert "publishes" in risks("x=ls; trap '$x' EXIT; x='git push'")
    assert risks("x=ls; trap 'echo $x' EXIT; x=a") == set()
