"""Assignments that change what later programs run."""

import pytest

from orchestrator.shell.variables import is_harmless_program
from tests.support.shell_reading import risks


@pytest.mark.parametrize("form", ["{}", "export {}; ls", "env {} ls", "declare -x {}", "{} ls"])
@pytest.mark.parametrize(
    "assignment", ["LD_PRELOAD=./x.so", "GIT_PAGER=./x", "PATH=/tmp/bin:$PATH", "BASH_ENV=./x"]
)
def test_poisonous_variable_is_found_in_every_form(form, assignment):
    """It does not matter how a variable is set."""
    assert "remote_code" in risks(form.format(assignment))


@pytest.mark.parametrize(
    "assignment",
    [
        "GIT_PAGER=cat",
        "PAGER=",
        "EDITOR='vim -f'",
        "GIT_EDITOR=true",
        "PATH=$PATH:/opt/x/bin",
        "PATH=/usr/local/go/bin:$PATH",
        "PATH=$PWD/node_modules/.bin:$PATH",
        "PYTHONPATH=src:tests",
        "NODE_OPTIONS=--max-old-space-size=4096",
        "MAVEN_OPTS=-Xmx2g",
        "MAKEFLAGS=-j4",
        "PS1='$ '",
        "FOO=bar",
        "HOMEPAGE=x",
    ],
)
def test_ordinary_variable_is_fine(assignment):
    """Settings that change nothing that runs are not asked about."""
    assert risks(f"export {assignment}") == set()


@pytest.mark.parametrize(
    "command",
    [
        "echo x > bin/ls; PATH=$PWD/bin:$PATH ls",
        "cp x bin/ls; export PATH=$PWD/bin:$PATH",
        "git clone https://x.example/y tools; PATH=$PWD/tools:$PATH ls",
        "PATH=$PWD:$PATH ls",
        "PATH=/tmp/bin:$PATH ls",
    ],
)
def test_a_folder_of_programs_is_the_projects_own_where_nothing_is_put_into_it(command):
    """Else any name may be another program from now on."""
    assert "remote_code" in risks(command)
    assert risks("export PATH=$PWD/bin:$PATH; ls") == set()


def test_code_in_a_variable_is_read():
    """A program name with arguments is a command like any other."""
    assert {"remote_code", "publishes"} <= risks("PAGER='git push' git log")


@pytest.mark.parametrize("form", ["{} make", "export {}; make", "env {} make", "{} ./configure"])
@pytest.mark.parametrize("name", ["CC", "HOST_CC", "FC", "LDSHARED", "CCACHE_PREFIX", "NINJA"])
def test_a_program_that_builds_call_is_judged_by_what_it_does(name, form):
    """Shell text may stand there; a compiler, its options and a launcher may too."""
    assert "publishes" in risks(form.format(f"{name}='sh -c \"git push;\" '"))
    for calm in ("clang", "'ccache gcc'", "'x86_64-linux-gnu-gcc -m32'", "/usr/bin/cc", "3"):
        assert risks(form.format(f"{name}={calm}")) == set()


@pytest.mark.parametrize("command", ["GIT_DIR={} git status", "git --git-dir={} log"])
def test_a_repository_elsewhere_brings_its_own_settings(command):
    """Git runs what they name; the workspace's own are protected."""
    assert "remote_code" in risks(command.format("/tmp/x/.git"))
    assert risks(command.format(".git")) == set()


@pytest.mark.parametrize("value", ["PYTHONPATH=/srv/x python a", "PERL5LIB=/srv/x perl a"])
def test_search_path_outside_the_workspace_is_found(value):
    """Code from elsewhere is foreign code."""
    assert "remote_code" in risks(value)


def test_harmless_program_has_no_path_and_no_shell_text():
    """``cat`` is, ``./cat`` and ``cat; x`` are not."""
    answers = [
        is_harmless_program(text) for text in ("cat", "less -R", "./cat", "cat; x", "sh -c x")
    ]
    assert answers == [True, True, False, False, False]
