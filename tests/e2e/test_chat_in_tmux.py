"""A chat driven by keystrokes in a real tmux, with a scripted model and a real box."""

import re

import pytest

from tests.support.tmux import TMUX, Pane
from tests.support.workspaces import give
from tests.support.world import bash, call

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(TMUX is None, reason="this machine has no tmux; install it to drive chat"),
]


@pytest.fixture
def open_pane(world):
    """Start chats in panes, and end them."""
    give(world.project)
    panes = []

    def start(*arguments, **options):
        panes.append(Pane(world, "chat", *arguments, **options))
        return panes[-1]

    yield start
    for pane in panes:
        pane.close()


def test_question_is_answered_inline_and_what_changed_waits(world, open_pane):
    """The draft that was begun meanwhile is there again; Ctrl-D leaves, the changes wait."""
    model = world.script(
        bash("sleep 1; echo made > new.txt"),
        bash("git push --force origin main"),
        {"text": "it was pushed"},
    )
    pane = open_pane("-m", model)
    pane.until("box up", "/help")
    pane.say("please begin")
    pane.until("● bash sleep 1")
    pane.type("my dra")
    pane.until("glovebox asks", "git push --force origin main", "(default):")
    pane.say("n not on main")
    text = pane.until("it was pushed", "» my dra")
    assert "Reason given: not on main" in text
    pane.press("C-c")
    pane.until_gone("my dra")
    pane.press("C-d")

    assert pane.ended() == 0
    shown = pane.text(scrollback=True)
    assert "1 changes wait: glovebox diff" in shown
    assert "» please begin" in shown
    assert not (world.project / "new.txt").exists()
    assert world.run("diff").out.count("+made") == 1


def test_one_goes_back_in_the_files_and_in_the_conversation(world, open_pane):
    """A rewind to a turn chosen by keys, then a jump in the tree; what was said there is a draft."""
    model = world.script(
        bash("echo first > new.txt"),
        {"text": "made it"},
        bash("echo second > new.txt"),
        {"text": "changed it"},
    )
    pane = open_pane("-m", model)
    pane.until("/help")
    pane.say("make a file")
    pane.until("made it", "/help")
    pane.say("change it")
    pane.until("changed it", "/help")
    pane.say("/rewind")
    pane.until("Enter takes it", "the start")
    pane.press("Up", "Up")
    pane.press("Enter")
    pane.until("are back at the end of turn 2", "/help")
    pane.say("/diff")
    text = pane.until("+first", "+1 -0", "/help")
    assert "+second" not in text

    pane.say("/tree")
    pane.until("Enter takes it", "> ")
    pane.press("Home")
    pane.press("Enter")
    pane.until("with a summary of what is left behind")
    pane.press("Enter")
    pane.until("the conversation goes on from there", "» make a file")
    pane.press("BSpace", "BSpace", "BSpace", "BSpace")
    pane.say("thing")
    pane.until("» make a thing", "made it", "/help")
    pane.say("/tree")
    rows = pane.until("Enter takes it", "user: make a thing")
    assert re.search(r"  \w{6}   user: make a file", rows)
    pane.press("Escape")
    pane.until_gone("Enter takes it")
    pane.say("/apply")
    pane.until("1 changes applied to", "/help")
    pane.press("C-d")

    assert pane.ended() == 0
    assert (world.project / "new.txt").read_text() == "first\n"
    [kept] = world.state.glob("sessions/*/*.jsonl")
    said = [text for text in ("make a file", "make a thing") if f'"{text}"' in kept.read_text()]
    assert said == ["make a file", "make a thing"]
    [told] = re.findall(r"> +\w+  message  user: (.*)", world.run("sessions", "show").out)
    assert "goes on now in a fresh box" in told


def test_words_stream_and_esc_stops_them(world, open_pane):
    """The screen shows a line while it grows; the chat goes on after a stop."""
    slow = {"text": "one two three four five six " * 40}
    pane = open_pane("-m", world.script(slow, slow, pace_s=0.3))
    pane.until("/help")
    pane.say("tell")
    pane.until("one two three four", "· Esc stops")
    pane.press("Escape")
    pane.until("stopped", "/help")
    pane.say("again")
    pane.until("» again\none two three four five six one")
    pane.press("C-c")
    pane.until_gone("· Esc stops")
    pane.press("C-d")

    assert pane.ended() == 0


def test_what_is_said_meanwhile_is_told_at_the_next_step_or_at_the_end(world, open_pane):
    """Enter steers, Alt-Enter follows up; a stop gives back what was not told."""
    model = world.script(
        bash("sleep 2"), {"text": "steered"}, {"text": "followed"}, bash("sleep 60"), {"text": "x"}
    )
    pane = open_pane("-m", model)
    pane.until("/help")
    pane.say("begin")
    pane.until("● bash sleep 2")
    pane.type("at the end")
    pane.press("M-Enter")
    pane.say("at once")
    pane.until("waits for the end: at the end", "waits for the next step: at once")
    pane.until("steered", "followed", "/help")
    pane.say("again")
    pane.until("● bash sleep 60")
    pane.say("never told")
    pane.until("waits for the next step: never told")
    pane.press("Escape")
    pane.until("stopped", "/help")
    assert pane.text().rstrip().splitlines()[-2] == "» never told"
    pane.press("C-c", "C-d")

    assert pane.ended() == 0
    [kept] = world.state.glob("sessions/*/*.jsonl")
    text = kept.read_text()
    assert text.index('"at once"') < text.index('"steered"') < text.index('"at the end"')
    assert "never told" not in text


def test_window_may_change_its_size_at_any_time(world, open_pane):
    """What is said, shown and typed is there in the new one, once."""
    slow = {"text": "words that take their time " * 8}
    pane = open_pane("-m", world.script(slow, pace_s=0.2))
    pane.until("/help")
    pane.say("tell")
    pane.type("my draft")
    pane.until("time words that take their time words that take their time w", "my draft")
    pane.resize(50, 20)
    pane.until("my draft")
    pane.resize(110, 35)
    text = pane.until("/help")

    assert len(re.findall("» my draft", text)) == 1
    assert ("words that take their time " * 8).strip() in text
    assert text.count("words that take") == 8, "rows of the wider window are left"
    pane.press("C-c", "C-d")
    assert pane.ended() == 0


def test_nothing_hostile_reaches_the_terminal(world, open_pane):
    """Neither from the model nor from the box: the title, the screen and the clipboard stay."""
    hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31mtext\x1b[0m"
    model = world.script(
        {
            "text": hostile,
            **bash(r"printf '\033]0;owned\007\033[2J\033]52;c;cm0=\007output\n'"),
        },
        call("write", path="a.txt", content=hostile),
        {"text": "end"},
    )
    pane = open_pane("-m", model)
    pane.until("/help")
    pane.say("begin")
    text = pane.until("end")

    assert "owned" not in pane.title()
    assert r"\x1b]0;owned\x07\x1b[2J\x1b[31mtext" in text
    assert "» begin" in text
    pane.press("C-d")
    assert pane.ended() == 0
