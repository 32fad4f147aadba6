"""The typer root: a table, loaded on demand, and the one place that catches everything."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from orchestrator import __version__
from orchestrator.cli.app import COMMANDS, exiting, load_command, report, report_bug, run_app
from orchestrator.errors import BoxError, ConfigError, UsageError
from tests.support.world import GLOVEBOX

SECRET = "correct-horse-battery-staple-7"


@pytest.fixture(autouse=True)
def no_debug(monkeypatch):
    monkeypatch.delenv("GLOVEBOX_DEBUG", raising=False)


def python(code):
    """Run code in a fresh interpreter; return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_loads_under_its_name(name):
    """A target that was moved would show only when somebody needs it."""
    command = load_command(name)

    assert command.name == name
    assert command.get_short_help_str(200) or getattr(command, "commands", None)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name, capsys):
    """With code 0, on stdout."""
    assert run_app([name, "--help"]) == 0
    assert name in capsys.readouterr().out


def test_help_lists_every_command_and_loads_none():
    """Asking what there is costs nothing."""
    loaded = python(
        "import sys, json\n"
        "from orchestrator.cli.app import run_app\n"
        "run_app(['--help'])\n"
        "names = [n for n in sys.modules if n.startswith('orchestrator.')]\n"
        "heavy = [n for n in ('docker', 'anthropic', 'openai', 'httpx') if n in sys.modules]\n"
        "print(); print(json.dumps([names, heavy]))"
    )
    targets = {target.partition(":")[0] for target, _ in COMMANDS.values()}

    assert targets.isdisjoint(loaded[0])
    assert loaded[1] == []


def test_help_names_all_commands(capsys):
    """In the order of the table."""
    assert run_app(["--help"]) == 0

    text = capsys.readouterr().out
    places = [text.index(f"  {name} ") for name in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run", "--no-such-flag"], ["diff", "a", "b", "c"]]
)
def test_wrong_command_line_ends_with_two(arguments, capsys):
    """Said on stderr; stdout is for answers."""
    assert run_app(arguments) == 2

    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_is_one_line(flag, capsys):
    """As scripts read it."""
    assert run_app([flag]) == 0
    assert capsys.readouterr().out == f"glovebox {__version__}\n"


def test_error_is_told_with_its_hint_and_ends_with_its_code(capsys):
    """Place, expected, got; below it what to do."""
    assert report(ConfigError("a.yaml:3: wrong", hint="write it so")) == 7
    assert capsys.readouterr().err == "glovebox: a.yaml:3: wrong\n  write it so\n"
    assert report(UsageError("no")) == 2
    assert capsys.readouterr().err == "glovebox: no\n"


def test_error_that_quotes_a_stranger_moves_no_cursor(capsys):
    """A server's words may end up in a message."""
    report(BoxError("box: said \x1b[2J\r\x9b and\nmore", hint="\x1b]0;x\x07"))

    told = capsys.readouterr().err
    assert told == "glovebox: box: said \\x1b[2J\\r\\x9b and\nmore\n  \\x1b]0;x\\x07\n"


def fail_with(secret):
    raise ValueError(secret)


def bug():
    try:
        fail_with(SECRET)
    except ValueError as error:
        return error


def test_bug_shows_neither_traceback_nor_value(capsys):
    """The message of a foreign exception may hold anything."""
    assert report_bug(bug()) == 1

    told = capsys.readouterr().err
    assert "internal error: ValueError" in told
    assert "GLOVEBOX_DEBUG=1" in told
    assert "Traceback" not in told
    assert SECRET not in told


def test_debug_shows_where_it_happened(capsys, monkeypatch):
    """For a bug and for an error of ours."""
    monkeypatch.setenv("GLOVEBOX_DEBUG", "1")
    report_bug(bug())
    assert "fail_with" in capsys.readouterr().err

    report(UsageError("no"))
    assert "UsageError" in capsys.readouterr().err


def test_error_inside_a_group_is_the_error(capsys):
    """Tasks wrap what they raise; a person is told the thing itself."""
    inner = ExceptionGroup("inner", [UsageError("this is it", hint="do that")])

    assert report_bug(ExceptionGroup("outer", [inner])) == 2
    assert capsys.readouterr().err == "glovebox: this is it\n  do that\n"
    assert report_bug(ExceptionGroup("outer", [bug()])) == 1
    assert "ValueError" in capsys.readouterr().err


@pytest.mark.parametrize(("result", "code"), [(None, None), (0, None), (3, 3)])
def test_result_of_a_command_is_its_exit_code(result, code):
    """Nothing and zero are success."""
    wrapped = exiting(lambda: result)
    if code is None:
        assert wrapped() is None
        return
    with pytest.raises(typer.Exit) as caught:
        wrapped()
    assert caught.value.exit_code == code


def test_error_of_ours_ends_a_real_command_with_its_code(tmp_path, capsys):
    """From the command line to the code and back."""
    assert run_app(["policy", "lint", str(tmp_path / "none.yaml")]) == 7

    told = capsys.readouterr()
    assert told.err.startswith("glovebox: ")
    assert "Traceback" not in told.err


def test_interrupt_ends_with_130_and_no_traceback(tmp_path):
    """Ctrl-C while it waits for stdin."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GLOVEBOX_STATE": str(tmp_path)}
    with subprocess.Popen(
        [GLOVEBOX, "run", "-", "-m", "scripted:x", "-C", tmp_path],
        env=environ,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_until_it_reads(process.pid)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "Traceback" not in told


def wait_until_it_reads(pid):
    """Return when the process sleeps in a read of its stdin."""
    while not Path(f"/proc/{pid}/wchan").read_text().startswith(("pipe_read", "anon_pipe_read")):
        pass
