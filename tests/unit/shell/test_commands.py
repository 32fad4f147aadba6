"""One command: functions, aliases, wrappers, and words that hide a program."""

import pytest

from tests.support.shell_reading import argvs, risks

WRAPPERS = [
    "sudo {}",
    "sudo -u x -E {}",
    "doas {}",
    "env {}",
    "env -u A B=1 {}",
    "env -S '{}'",
    "env -i PATH=/bin {}",
    "nohup {}",
    "nice -n 5 {}",
    "ionice -c3 {}",
    "timeout 5 {}",
    "timeout -s KILL 5 {}",
    "timeout --signal=KILL 5m {}",
    "stdbuf -oL {}",
    "setsid {}",
    "flock lock {}",
    "flock lock -c '{}'",
    "xargs {}",
    "xargs -I@ {}",
    "find . -exec {} \\;",
    "find . -exec sh -c '{}' \\;",
    "fd -x {}",
    "busybox {}",
    "command {}",
    "command -p -- {}",
    "builtin eval '{}'",
    "exec {}",
    "exec -a x {}",
    "time -p {}",
    "A=1 time B=2 {}",
    "strace -f -o log {}",
    "watch -n 5 '{}'",
    "script -qc '{}' log",
    "su -c '{}'",
    "chroot /x {}",
    "ssh h.example {}",
    "parallel {}",
    "docker exec web {}",
    "docker run --rm alpine {}",
    "kubectl exec p -- {}",
    "poetry run {}",
    "uv run {}",
    "npm exec -c '{}'",
    "gdb --args {}",
    "gdb -ex 'shell {}'",
    "git bisect run {}",
    "git submodule foreach '{}'",
    "git rebase -x '{}' main",
    "vim -c '!{}'",
    "awk 'BEGIN{{system(\"{}\")}}'",
    "tmux new -d '{}'",
    "hyperfine '{}'",
    "entr {}",
    "sh -c '{}'",
    "bash -lc '{}'",
    "eval '{}'",
    "trap '{}' EXIT",
    "alias x='{}'",
    "bash <<< '{}'",
    "echo '{}' | sh",
    "env bash -c '{}'",
    "sudo timeout 5 env A=1 sh -c '{}'",
]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrapper_is_judged_by_what_it_runs(wrapper):
    """There is no coat under which a push is not a push."""
    assert "publishes" in risks(wrapper.format("git push"))


HARMLESS = [
    w
    for w in WRAPPERS
    if w.split()[0] not in {"sudo", "doas", "su", "chroot", "ssh", "vim"} and " run --rm" not in w
]


@pytest.mark.parametrize("wrapper", HARMLESS)
def test_wrapper_around_something_harmless_is_harmless(wrapper):
    """A wrapper is no reason to ask."""
    assert risks(wrapper.format("echo hi")) == set()


@pytest.mark.parametrize(
    "command",
    [
        "$X push",
        "$(cat x) push",
        "`x` y",
        "/bin/r? -rf x",
        "r[m] x",
        "${A:?} push",
        "g$X push",
        "./$X",
        '"" x',
        'git "$X"',
        "cat x | xargs -I{} {} y",
        "sudo $X",
        "env $X",
        "docker $X",
    ],
)
def test_program_that_cannot_be_seen_is_opaque(command):
    """Nobody can judge what nobody can name."""
    assert "opaque" in risks(command)


@pytest.mark.parametrize(
    "command",
    [
        "r''m -r s",
        '"rm" -r s',
        "\\rm -r s",
        "$'\\x72m' -r s",
        "/bin/rm -r s",
        "r\\\nm -r s",
        "{rm,-r,s}",
    ],
)
def test_spelling_hides_no_program(command):
    """Quotes vanish before the program runs."""
    assert risks(command)


def test_alias_is_read_with_the_arguments_behind_it():
    """bash pastes the text and reads on."""
    assert ["git", "push"] in argvs("shopt -s expand_aliases\nalias g=git\ng push")


@pytest.mark.parametrize("wrapper", ["env", "nohup", "command", "timeout 5", "xargs", "exec"])
def test_function_does_not_hide_a_program_from_a_wrapper(wrapper):
    """What another program starts is no function of this shell."""
    assert "publishes" in risks(f"git() {{ echo; }}; {wrapper} git push")


def test_alias_of_itself_ends():
    """``alias ls='ls -l'`` is no loop."""
    assert risks("alias ls='ls -l'; ls") == set()


def test_dashed_git_program_is_git():
    """``git-push`` in the exec path does what ``git push`` does."""
    assert "publishes" in risks("/usr/lib/git-core/git-push origin")


def test_arguments_found_at_run_time_are_not_static():
    """xargs and find hand over what nobody has seen."""
    assert argvs("xargs x a")[-1] == ["x", "a", None]
    assert argvs("find src -exec x {} \\;")[-1] == ["x", None]


def test_other_machine_is_looked_at_but_not_changed_unasked():
    """What happens there cannot be undone here."""
    assert (risks("ssh h.example uptime"), risks("ssh h.example ./deploy")) == (
        set(),
        {"publishes"},
    )


@pytest.mark.parametrize(
    "command", ["alias x='git '; alias y=push; x y", "alias x='git '; alias y='push -f'; x y"]
)
def test_alias_that_ends_in_a_blank_opens_the_next_one(command):
    """bash looks the word after it up as well."""
    assert "publishes" in risks(command)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("unheard-of git push", True),
        ("unheard-of --quiet git push", True),
        ("unheard-of --level 3 git push", True),
        ("unheard-of A=1 sh -c 'git push'", True),
        ("unheard-of look git push", False),
        ("unheard-of 'git push'", False),
        ("unheard-of git status", False),
    ],
)
def test_command_passed_to_an_unknown_program_is_judged(command, found):
    """It may be a wrapper that nobody described; words of a message seldom stand first."""
    assert ("publishes" in risks(command)) is found
