"""What is typed into a process is judged as if its program had been given it to read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.schema.request import ProcessInput, request_subject
from tests.unit.policy.conftest import SHIPPED

DEFAULT = load_policy(["default"], search=SHIPPED, user_file=None)


def typed(text, command="bash", *, policy=DEFAULT, **more):
    request = ProcessInput("p1", text, command=command, cwd="/workspace", **more)
    decision = evaluate(policy, request, tool="process")
    part = request_subject(request)[slice(*decision.span)] if decision.span else None
    return decision, part


@pytest.mark.parametrize(
    ("command", "text", "risk", "part"),
    [
        ("bash", "ls\nrm -rf /\n", "destructive", "/"),
        ("bash -i", "git push\n", "publishes", "git push"),
        ("cd sub; exec env X=1 bash # shell", "git push\n", "publishes", "git push"),
        ("python3 -q", "import os\nos.system('git push')\n", "publishes", "git push"),
        ("node", "require('child_process').execSync('git push')\n", "publishes", "git push"),
        ("psql", "drop table users;\n", "destructive", "drop table"),
        ("bash", "$SOMETHING\n", "opaque", "$SOMETHING\n"),
        ("bash", "INPUT0\ngit push\n", "publishes", "git push"),
        ("script -q /dev/null", "git push\n", "publishes", "git push"),
        ("gdb", "shell git push\n", "publishes", "git push"),
        ("sqlite3 x", ".system git push\n", "publishes", "git push"),
        ("ed", "!git push\n", "publishes", "git push"),
        ("vim x", ":r !git push\n", "publishes", "git push"),
        ("jshell", 'Runtime.getRuntime().exec("git push");\n', "publishes", "git push"),
        ("gnuplot", "system 'git push'\n", "publishes", "git push"),
    ],
)
def test_input_is_gated_like_the_command_itself(command, text, risk, part):
    """In the language of whatever reads it, and as a shell line where its program can run one."""
    decision, found = typed(text, command)

    assert decision.effect == "ask"
    assert risk in decision.risks
    assert found.strip() == part.strip()


@pytest.mark.parametrize(
    ("command", "text", "risk"),
    [
        ("sed -f -", "1e git push\n", "publishes"),
        ("sed -nf /dev/stdin x", "s/.*/git pu/e\n", "remote_code"),
        ("sed --file=- x", "w /etc/passwd\n", "persistence"),
        ("awk -f - x", 'BEGIN { system("git" " push") }\n', "publishes"),
        ("gawk --file /dev/stdin", 'BEGIN { c = "git"; c " push" | getline }\n', "remote_code"),
        ("m4", "syscmd(`git push')\n", "remote_code"),
        ("m4 -", "define(`a', `sys')a()cmd(`git push')\n", "opaque"),
        ("gdb", "she git push\n", "publishes"),
        ("gdb -q", "| info all | git push\n", "publishes"),
        ("lldb", "script import os; os.system('ls')\n", "opaque"),
        ("ed x", "1,2w !git push\n", "publishes"),
        ("ex -s x", "r !git push\n", "publishes"),
        ("vim x", ":call system('git push')\n", "publishes"),
        ("sqlite3 x", ".sy git push\n", "publishes"),
        ("sqlite3 x", ".once |git push\n", "publishes"),
        ("sqlite3 x", ".load ./evil\n", "remote_code"),
        ("psql", "\\! git push\n", "publishes"),
        ("psql", "select 1 \\g |git push\n", "publishes"),
        ("psql", "\\set x `git push`\n", "publishes"),
        ("mysql", "pager git push\n", "publishes"),
        ("make -f -", "x := $(shell git push)\n", "publishes"),
        ("dc", "!git push\n", "publishes"),
        ("crontab -", "* * * * * git push\n", "publishes"),
        ("crontab -", "@reboot git push\n", "publishes"),
        ("cmake -P /dev/stdin", "execute_process(COMMAND x)\n", "remote_code"),
        ("ninja -f /dev/stdin", "rule x\n  command = git push\n", "publishes"),
        ("just -f -", "all:\n  @git push\n", "publishes"),
    ],
)
@pytest.mark.parametrize("terminal", [True, False])
def test_program_that_reads_its_program_is_an_interpreter(command, text, risk, terminal):
    """Each in its own language, by the tables; a terminal in between changes nothing."""
    decision, _ = typed(text, command, terminal=terminal)

    assert decision.effect == "ask"
    assert risk in decision.risks


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("sed -f - x", "s/we/ew/g\n/^e/d\n"),
        ("sed -n p", "1e git pushes\n"),
        ("awk -f - x", "{ print $1 }\n"),
        ("m4", "hello world\n"),
        ("gdb ./a.out", "break main\nrun\nbt\n"),
        ("ed x", "1,3p\n"),
        ("vim x", "ihello\n"),
        ("sqlite3 x", ".tables\n.show\nselect 1;\n"),
        ("psql", "select 1;\n"),
        ("make -f -", "all: ; gcc x.c\n"),
        ("dc", "2 3 + p\n"),
        ("bc", "2 + 3\n"),
        ("jq -f /dev/stdin x", ".a[0].b\n"),
        ("cmake -P /dev/stdin", "set(A b)\nmessage(STATUS done)\n"),
        ("ninja -f /dev/stdin", "rule x\n  command = gcc x.c\n"),
        ("bash", "ls -la\necho done > out.txt\n"),
        ("python3", "print(6 * 7)\n"),
        ("npm init", "y\n"),
        ("cat", "don't mind the quote\n"),
        ("python3", "if x != 1: print('Hello!')\n"),
        ("python3", "print('git push is for people')\n"),
        ("lua", "print('done!') x = y ~= 'a'\n"),
    ],
)
@pytest.mark.parametrize("terminal", [True, False])
def test_harmless_input_needs_no_question(command, text, terminal):
    """An answer to a prompt is no command, and an apostrophe no riddle."""
    decision, _ = typed(text, command, terminal=terminal)

    assert decision.effect == "allow"


@pytest.mark.parametrize(
    ("command", "before", "text", "terminal"),
    [
        ("stty iuclc; exec sh", "", "GIT PUSH\n", True),
        ("stty erase X; exec dash", "", "git puZXsh\n", True),
        ("dash", "stty -echo erase X\n", "git puZXsh\n", True),
        ("bash", "histchars='@^#'\n", "@@:s/echo//\n", True),
        ("env INPUTRC=/tmp/x bash", "", "Q\n", True),
        ("bash -i", "echo git push\n", "!!:s/echo//\n", False),
        ("bash -o histexpand", "", "^echo^command\n", False),
        ("bash", "set -o history -o histexpand\n", "^echo^command\n", False),
        ("bash", "set -o history -H\n", "!!:s/echo//\n", False),
    ],
)
def test_plain_characters_that_mean_others_are_asked_about(command, before, text, terminal):
    """Each of these ran a push that nobody was asked about."""
    decision, _ = typed(text, command, typed=before, terminal=terminal)

    assert (decision.effect, decision.unyielding) == ("ask", True)
    assert "opaque" in decision.risks


@pytest.mark.parametrize(
    ("command", "before", "text"),
    [
        ("stty -echo; exec python3", "", "print(1)\n"),
        ("bash", "stty size; stty cols 100\n", "ls\n"),
        ("bash", "", "if ! [[ $x == [!a]* ]]; then ls -i; fi\n"),
    ],
)
def test_looking_at_the_terminal_needs_no_question(command, before, text):
    """Its size and its echo change nothing that is typed; without history a mark is no recall."""
    assert typed(text, command, typed=before)[0].effect == "allow"


@pytest.mark.parametrize(
    ("command", "before", "text", "risk"),
    [
        ("bash", "cd /etc\n", "rm -r x\n", "destructive"),
        ("bash", "cd .git/hooks\n", "echo x > post-commit\n", "persistence"),
        ("bash", "X=rm\n", "$X -rf /\n", "destructive"),
        ("bash", "f() { git push; }\n", "f\n", "publishes"),
        ("bash", "alias ls='git push'\n", "ls\n", "publishes"),
        ("python3", "from os import system as s\n", "s('git push')\n", "publishes"),
        ("python3", "def f():\n    import os\n    os.system('git push')\n\n", "f()\n", "publishes"),
    ],
)
def test_input_in_parts_does_not_evade(command, before, text, risk):
    """What was typed before is known, and what it defined is judged when it is used."""
    decision, _ = typed(text, command, typed=before)

    assert decision.effect == "ask"
    assert risk in decision.risks


def test_what_was_judged_before_is_not_asked_again():
    """A yes to one line is no question at every later one."""
    decision, _ = typed("ls\n", typed="rm -rf build\ngit push\n")

    assert (decision.effect, decision.risks) == ("allow", ())


@pytest.mark.parametrize(
    ("pending", "text"),
    [
        (("git ",), "push\n"),
        (("gi", "t pu"), "sh\n"),
        (("ls",), "git push\n"),
        (("#", "l"), "git push\n"),
    ],
)
def test_line_in_pieces_is_judged_joined_and_apart(pending, text):
    """A signal may have made the program drop what it had of the line."""
    decision, _ = typed(text, pending=pending)

    assert "publishes" in decision.risks


def test_line_in_very_many_pieces_is_asked_about():
    """Beyond a bound nobody looks at all the ways to join them."""
    decision, _ = typed("x", pending=tuple("abcdefghi"))

    assert (decision.effect, decision.rule) == ("ask", "risk:opaque")


@pytest.mark.parametrize(
    "text",
    ["git pusx\x7fh\n", "\x1b[A\n", "git\tpu\t\n", "!g\n", "^ls^rm^\n", "\x12git\n", "\x03"],
    ids=["backspace", "arrow", "tab", "history", "replace", "search", "interrupt"],
)
def test_keys_that_edit_a_line_are_asked_about(text):
    """At a terminal, what runs is then not what the text says; no blanket yes covers it."""
    decision, _ = typed(text, terminal=True)

    assert (decision.effect, decision.unyielding) == ("ask", True)
    assert "opaque" in decision.risks


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("lua", f"x = '{'a' * 5000}'\n"),
        ("vim x", ":! ! " * 5000 + "\n"),
        ("bash", "ls\n" * 2000),
        ("bash \\", "ls\n"),
    ],
    ids=["line", "escapes", "lines", "unfinished-command"],
)
def test_what_is_too_much_to_read_is_asked_about(command, text):
    """Nothing is let through because it was not looked at."""
    decision, _ = typed(text, command)

    assert (decision.effect, decision.rule) == ("ask", "risk:opaque")


def test_rule_about_bash_holds_for_what_a_shell_is_told(load):
    """Another tool that runs commands is no way around it."""
    policy = load(p="tools: {default: allow, bash: deny}\ncommands: {default: allow}\n")
    decision, _ = typed("ls\n", policy=policy)

    assert (decision.effect, decision.rule) == ("deny", "tool:bash")


def test_rule_for_a_program_holds_in_a_shell_that_was_started(load):
    """With its reason and its hint."""
    rule = (
        "commands:\n  default: allow\n  rules:\n    - id: no-push\n      program: git\n"
        "      args: [push]\n      effect: deny\n      reason: not from here\n"
        "      examples: {match: [git push], no_match: [git log]}\n"
    )
    decision, part = typed(
        "git log\ngit push\n", policy=load(p=f"tools: {{default: allow}}\n{rule}")
    )

    assert (decision.effect, decision.rule, part) == ("deny", "no-push", "git push")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.text(max_size=40), st.booleans())
def test_nothing_around_a_push_hides_it(before, after, terminal):
    """Whatever is typed before it or after it on other lines."""
    decision, _ = typed(f"{after}\ngit push\n", typed=before, terminal=terminal)

    assert decision.effect != "allow"


def test_half_a_statement_is_told_how_to_be_read():
    """The model can send it whole; a push is no matter of form."""
    assert "whole lines or statements" in typed("def f(x):\n", "python3")[0].hint
    assert "whole" not in typed("git push\n")[0].hint
