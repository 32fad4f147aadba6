"""A chat by the real command line: on a pseudo-terminal, on a plain one, and by pipes."""

import json
import signal

import pytest

from tests.support.chat_seat import strange
from tests.support.workspaces import give
from tests.support.world import bash, call

pytestmark = pytest.mark.docker

HOSTILE = (
    "\x1b]52;c;cm0gLXJmIC8=\x07\x1b]0;owned\x1b\\\x1b[2J\x1b[6n\x9b31m\u202eevil\x1b[?1000h\rx"
)
OUTPUT = r"""printf '\033]52;c;cm0=\007\033]0;owned\033\\\033P1$r0m\033\\\033[6n\033[c\033[2J\rx\n'
printf '\xe2\x80\xaebidi \x9b31m\n'; echo all-said"""


@pytest.fixture(autouse=True)
def _own(world):
    give(world.project)


def test_nothing_hostile_is_written_to_the_terminal(world, sit):
    """Not from what the model says, asks for or writes, nor from what the box puts out."""
    model = world.script(
        {"text": HOSTILE, **bash(OUTPUT)},
        call("write", path="a.txt", content=HOSTILE),
        bash(f"echo '{HOSTILE}'"),
        bash("git push --force origin main"),
        {"text": f"{HOSTILE}\nthe end"},
    )
    seat = sit("chat", "-m", model, size=(100, 45))
    seat.until("/help")
    seat.type("begin\r")
    seat.until("(default)")
    seat.type("n\r")
    seat.until("the end")
    seat.type("/diff\r")
    seat.until("+1 -0")
    seat.type("/tree\r")
    seat.until("Enter takes it")
    seat.type("\x1b")
    seat.until("/help")
    seat.type("\x04")

    assert seat.ended() == 0
    assert strange(seat.written) == []
    assert "evil" in seat.written
    assert "all-said" in seat.written


def test_signal_ends_the_chat_in_order(world, sit):
    """While the model works: the terminal is as it was, the chain is closed, changes wait."""
    model = world.script(bash("echo made > new.txt"), bash("sleep 60"))
    seat = sit("chat", "begin", "-m", model)
    before = seat.modes()
    seat.until("● bash sleep 60")
    seat.child.kill(signal.SIGTERM)

    assert seat.ended() == 143
    assert seat.modes_at_end == before
    verified = world.run("audit", "verify", world.session(), "--require-closed")
    assert verified.code == 0, verified.out
    assert "+made" in world.run("diff").out


def test_plain_terminal_is_asked_between_lines(world, sit):
    """Without an input line; the question is answered all the same."""
    model = world.script(bash("git push --force origin main"), {"text": "it is over"})
    seat = sit("chat", "-m", model, size=(100, 45), env={"TERM": "dumb"})
    seat.until("box up")
    seat.type("please begin\n")
    seat.until("(default)")
    seat.type("n not now\r")
    seat.until("it is over")
    seat.type("\x04")

    assert seat.ended() == 0
    assert "Reason given: not now" in seat.written
    assert seat.written.count("it is over") == 1
    assert "\x1b" not in seat.written


def test_no_colour_is_none(world, sit):
    model = world.script(call("write", path="a.txt", content="text\n"), {"text": "it is over"})
    seat = sit("chat", "begin", "-m", model, env={"NO_COLOR": "1"})
    seat.until("it is over")
    seat.type("\x04")

    assert seat.ended() == 0
    assert "│ +text" in seat.written
    assert not [code for code in ("[31m", "[32m", "[33m", ";31", ";32") if code in seat.written]


def test_pipes_say_line_by_line_and_tell_events(world):
    """With --json all is told as events, and stdout holds nothing else."""
    model = world.script({"text": "one"}, {"text": "two"})
    ended = world.run("chat", "-m", model, "--json", stdin="first\nsecond\n")

    assert ended.code == 0, ended.err
    answers = [event["message"]["content"][0]["text"] for event in ended.of("message_end")]
    assert answers == ["one", "two"]
    assert json.loads(ended.out.splitlines()[-1])["type"] == "session_end"
