"""A person's terminals from the outside, on a real pseudo-terminal."""

import json
import signal
import subprocess
import termios
from pathlib import Path

import pytest

from tests.support.terminals import strange
from tests.support.world import GLOVEBOX, bash, call

pytestmark = pytest.mark.docker

HOSTILE = r"""
printf '\033]52;c;cm0gLXJmIC8=\007'; printf '\033]0;owned\033\\'; printf '\033P1$r0m\033\\'
printf '\033[6n\033[c\033[>c\033[21t'; printf '\033[?1000h\033[?2004h'; printf '\033[201~rm\n'
printf '\033_Ga=T,f=24,s=1,v=1;AAAA\033\\'; printf '\033]8;;http://x\033\\link\033]8;;\033\\'
printf '\xe2\x80\xaebidi'; printf '\x9b31m'; echo; echo all-said
"""


def test_shell_keeps_changes_and_asks(world, sit):
    """As after a run; the terminal is recorded and in a chain that holds."""
    seat = sit("shell")
    seat.until("workspace$")
    seat.type("echo made > new.txt; stty size; exit 3\r")
    seat.until("apply these changes")
    assert "24 80" in seat.text()
    assert "exit code 3" in seat.text()
    assert not (world.project / "new.txt").exists()
    seat.type("y\r")

    assert seat.ended() == 0
    assert (world.project / "new.txt").read_text() == "made\n"
    [start], [end] = world.records("terminal_start"), world.records("terminal_end")
    assert start["who"]["via"] == "shell"
    assert end["exit_code"] == 3
    cast = [json.loads(line) for line in Path(start["recording"]).read_text().splitlines()]
    assert cast[0]["version"] == 2
    assert "echo made" in "".join(event[2] for event in cast[1:])
    verified = world.run("audit", "verify", world.session(), "--require-closed")
    assert verified.code == 0, verified.err


def test_what_the_box_prints_never_reaches_the_terminal_raw(world, sit):
    """Clipboard, title, queries, images, mouse, hyperlinks: only our own sequences come out."""
    (world.project / "hostile.sh").write_text(HOSTILE)
    seat = sit("shell")
    seat.until("workspace$")
    seat.type("bash hostile.sh\r")
    seat.until("\nall-said")
    seat.type("\x1d")
    assert seat.ended() == 0

    assert strange(seat.written) == []
    assert "owned" not in seat.written
    [recording] = (world.state / "recordings").glob("*/*.cast")
    shown = "".join(event[2] for event in map(json.loads, recording.read_text().splitlines()[1:]))
    assert "all-said" in shown
    assert "]52" not in shown.replace("]52;c", "]52", 0)


def test_full_screen_programs_and_new_sizes_work(sit):
    """less takes the whole screen, follows the window, and gives the screen back."""
    seat = sit("shell", size=(60, 12))
    seat.until("workspace$")
    seat.type("echo before; seq 100 > n; less n\r")
    seat.until("\n11")
    assert "before" not in seat.text()
    seat.type("\x1b[B")
    seat.until("\n12")
    seat.resize(40, 8)
    seat.type("G")
    seat.until("100")
    assert "93" not in seat.text().split()
    seat.type("q")
    seat.until("before")
    seat.type("stty size; exit\r")
    seat.until("8 40")
    seat.until("later (default)")
    seat.type("n\r")

    assert seat.ended() == 0


def test_history_is_the_terminals_own(sit):
    """What scrolled by can be scrolled back to."""
    seat = sit("shell")
    seat.until("workspace$")
    seat.type("seq 1000 1200; exit\r")
    assert seat.ended() == 0

    width = seat.screen.columns
    gone = ["".join(line[x].data for x in range(width)).strip() for line in seat.screen.history.top]
    assert [number for number in map(str, range(1000, 1150)) if number not in gone] == []


def test_attach_joins_a_running_session(world, sit):
    """The same box and files as the agent; both end as they should."""
    model = world.script(bash("echo agent > from-agent; touch ready; sleep 15"), {"text": "done"})
    process = world.start("run", "x", "-m", model, "--json")
    for line in process.stdout:
        if json.loads(line)["type"] == "decision":
            break
    seat = sit("attach")
    seat.until("workspace$")
    seat.type("cat from-agent; pgrep -c sleep; echo person > from-person\r")
    seat.until("\nagent")
    seat.type("\x1d")
    assert seat.ended() == 0
    assert "you left the terminal" in seat.text()

    again = sit("attach", world.session()[:8], "--detach-key", "ctrl-q")
    again.until("workspace$")
    events = [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines()]
    assert again.ended() == 0
    assert "ended, and the terminal with it" in again.text()

    assert process.returncode == 0
    [changed] = [event["changed"] for event in events if event["type"] == "workspace"]
    assert {"from-agent", "from-person"} <= {row["path"] for row in changed}
    assert [body["who"]["via"] for body in world.records("terminal_start")] == ["attach"] * 2
    assert len(world.records("terminal_end")) == 2


def test_processes_that_an_agent_keeps_are_listed(world):
    """From another process of the same user."""
    start = call("process", action="start", command="sleep 4242")
    model = world.script(start, bash("sleep 30"), {"text": "done"})
    process = world.start("run", "x", "-m", model, "--json", "--tools", "bash,process")
    judged = 0
    for line in process.stdout:
        judged += json.loads(line)["type"] == "decision"
        if judged == 2:
            break
    listed = world.run("ps", world.session(), "--json")
    shown = world.run("ps", world.session()[:8])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    [row] = json.loads(listed.out)["processes"]
    assert (row["command"], row["running"]) == ("sleep 4242", True)
    assert shown.out.split()[1:] == ["runs", "sleep", "4242"]


def test_terminal_is_restored_when_this_program_is_told_to_end(world, sit):
    """Echo and lines are back after SIGTERM, and no box is left."""
    seat = sit("shell")
    before = seat.modes()
    seat.until("workspace$")
    assert not seat.modes()[3] & termios.ECHO
    seat.child.kill(signal.SIGTERM)

    assert seat.ended() == 143
    assert seat.modes_at_end == before
    assert seat.written.count("\x1b[?7h") == 1
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=glovebox.session={world.session()}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == ""


def test_without_a_terminal_there_is_none(world):
    """A script is told so, and no box is started for it."""
    ended = subprocess.run(
        ["setsid", "-w", *map(str, [GLOVEBOX, "shell"])],
        cwd=world.project,
        env=world.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert "expected a terminal" in ended.stderr
    assert not (world.state / "sessions").exists()


def test_attach_to_nothing_says_what_there_is(world):
    """With the way to a box of one's own."""
    ended = world.run("attach")

    assert ended.code == 1
    assert "expected a running session" in ended.err
    assert "glovebox shell" in ended.err
