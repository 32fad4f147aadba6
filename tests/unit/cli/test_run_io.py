"""Where a run reads and writes."""

import json
import subprocess
import sys

import pexpect
import pytest

from orchestrator.cli.run_io import RunIo, open_io
from orchestrator.confirmation.terminal import TerminalConfirmer
from orchestrator.confirmation.tty import TtyTerminal
from orchestrator.schema.event import ErrorRaised, LimitReached, MessageDelta, TurnStart

ERROR = ErrorRaised("model", "it broke")
HINTED = ErrorRaised("model", "no key", "set ANTHROPIC_API_KEY")


def told(capsys, *, quiet=False, json_events=False):
    observe = RunIo(json_events=json_events, quiet=quiet, terminal=None).observer("abc")
    for event in (TurnStart(1), ERROR):
        observe(event)
    return capsys.readouterr()


def test_progress_goes_to_stderr(capsys):
    """stdout is for the answer."""
    assert told(capsys) == ("", "model: it broke\n")


def test_quiet_shows_only_why_a_run_fails_or_ends_early(capsys):
    """--print wants the answer alone on stdout, and whoever reads stderr the reason."""
    observe = RunIo(json_events=False, quiet=True, terminal=None).observer("abc")
    for event in (TurnStart(1), MessageDelta("text", "Hello"), HINTED, LimitReached("turns", 3)):
        observe(event)

    said = "model: no key\n  set ANTHROPIC_API_KEY\nlimit reached: turns (3)\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("quiet", [False, True])
def test_json_prints_events_alone_to_stdout(capsys, quiet):
    """Every line is one."""
    out, err = told(capsys, json_events=True, quiet=quiet)

    assert [json.loads(line)["type"] for line in out.splitlines()] == ["turn_start", "error"]
    assert err == ""


def test_note_goes_to_stderr_with_its_line_end(capsys):
    """Whatever else is printed where."""
    RunIo(json_events=True, quiet=True, terminal=None).note("waiting")

    assert capsys.readouterr() == ("", "waiting\n")


def test_without_a_terminal_nobody_is_asked():
    """stdin or stderr of a pipe has no person at it."""
    assert RunIo(json_events=False, quiet=False, terminal=None).person() is None


def test_terminal_asks_its_person():
    """The same terminal, by its descriptor."""
    io = RunIo(json_events=False, quiet=False, terminal=TtyTerminal(0))

    assert isinstance(io.person(), TerminalConfirmer)


OPEN = (
    "import sys\nfrom orchestrator.cli.run_io import open_io\n"
    "io = open_io(quiet=False, json_events=False)\n"
    "print('terminal:', io.terminal is not None)\n"
)


def test_process_without_a_terminal_opens_none():
    """Also where one of the two is redirected."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "terminal: False\n"


def test_process_at_a_terminal_opens_it():
    """Even when stdout is a pipe: the question goes to the terminal itself."""
    child = pexpect.spawn("/bin/sh", ["-c", f'{sys.executable} -c "$0" | cat', OPEN], timeout=30)
    child.expect("terminal: True")
    child.expect(pexpect.EOF)


def test_session_without_a_controlling_terminal_opens_none():
    """A terminal as stdin that is not ours to ask on is none."""
    child = pexpect.spawn("setsid", ["--wait", sys.executable, "-c", OPEN], timeout=30)
    child.expect("terminal: (True|False)")
    child.expect(pexpect.EOF)
    assert child.exitstatus is None or child.wait() == 0


def test_reader_that_goes_away_does_not_end_the_run():
    """``--json | head -1``: observers may be dropped, the work goes on and ends in order."""
    code = (
        "import sys\nfrom orchestrator.cli.run_io import RunIo\n"
        "from orchestrator.schema.event import TurnStart\n"
        "observe = RunIo(json_events=True, quiet=False, terminal=None).observer('abc')\n"
        "for turn in range(5000):\n    observe(TurnStart(turn))\n"
        "sys.stdout.write('the answer\\n')\nsys.stdout.flush()\n"
        "sys.stderr.write('went on')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()

    assert json.loads(first)["seq"] == 0
    assert (process.returncode, err) == (0, "went on")


def test_open_io_keeps_what_was_asked_for():
    """The flags, whatever the streams are."""
    io = open_io(quiet=True, json_events=True)

    assert (io.quiet, io.json_events) == (True, True)
