"""What changes at once is shown at once."""

import os

import pytest

from orchestrator.cli.chat.frames import BEGIN, END, UNKNOWN, FrameOutput


@pytest.fixture
def line():
    """An output and what reads what it writes."""
    ours, theirs = os.pipe()
    out = os.fdopen(theirs, "w")
    yield FrameOutput(out, term="xterm"), lambda: os.read(ours, 1000).decode()
    out.close()
    os.close(ours)


def test_all_that_was_held_is_one_frame(line):
    """Also what was flushed in between."""
    output, read = line
    output.hold()
    output.write_raw("one ")
    output.flush()
    output.write_raw("two")
    output.release()

    assert read() == f"{BEGIN}one two{END}"


def test_nothing_new_is_no_frame(line):
    output, read = line
    output.flush()
    output.write_raw("x")
    output.flush()
    output.flush()

    assert read() == f"{BEGIN}x{END}"


def test_terminal_is_never_asked_for_its_cursor(line):
    """The answer would come in among the keys."""
    output, _ = line

    assert not output.responds_to_cpr


def test_size_that_is_not_told_is_the_usual_one(line):
    output, _ = line

    assert output.get_size() == (UNKNOWN.lines, UNKNOWN.columns)


def test_terminal_that_is_gone_takes_no_more(line):
    """And nothing fails, then or at the end of the process."""
    output, _ = line
    read, write = os.pipe()
    os.close(read)
    os.dup2(write, output.fileno())
    os.close(write)

    for text in ("lost", "lost too"):
        output.write_raw(text)
        output.flush()
