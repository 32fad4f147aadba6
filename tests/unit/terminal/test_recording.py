import json
import os

import pytest

from orchestrator.errors import AuditUnavailable
from orchestrator.redaction.redactor import Redactor
from orchestrator.redaction.stream import RedactingStream
from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal import recording
from orchestrator.terminal.recording import Recording

SECRET = "correct-horse-battery"


@pytest.fixture
def make(tmp_path):
    def recorded(name="a.cast"):
        redactor = Redactor({"key": SECRET})
        return Recording(
            tmp_path / "folder" / name,
            TerminalSize(80, 24),
            redact=lambda write: RedactingStream(redactor, write),
            title="glovebox shell",
        )

    return recorded


def lines(made):
    return [json.loads(line) for line in made.path.read_text().splitlines()]


def test_file_is_an_asciicast_of_what_was_shown(make):
    """Any player of that form shows it."""
    made = make()
    made.feed(b"hello ")
    made.feed("wörld\r\n".encode())
    made.resize(TerminalSize(80, 24))
    made.resize(TerminalSize(40, 10))
    made.close()
    header, *events = lines(made)

    assert (header["version"], header["width"], header["height"]) == (2, 80, 24)
    assert "".join(text for _, kind, text in events if kind == "o") == "hello wörld\r\n"
    assert [text for _, kind, text in events if kind == "r"] == ["40x10"]
    assert [time for time, _, _ in events] == sorted(time for time, _, _ in events)


def test_only_the_owner_reads_it(make):
    """Neither the file nor its folder is for others."""
    made = make()
    made.close()

    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.path.parent.stat().st_mode & 0o777 == 0o700


def test_secret_is_not_in_it_however_it_was_cut(make):
    """What is known as a secret stays out, even where control sequences are dropped from it."""
    made = make()
    made.feed(b"it is " + SECRET[:7].encode())
    made.feed(b"\x1b]0;x\x07" + SECRET[7:].encode() + b" and more\r\n")
    made.close()

    assert SECRET not in made.path.read_text()
    assert "[redacted:" in made.path.read_text()


def test_playing_it_is_safe(make):
    """Nothing that talks to a terminal is in it."""
    made = make()
    made.feed(b"a\x1b]52;c;cm0=\x07b\x1b[6nc\r\n")
    made.close()

    assert "".join(event[2] for event in lines(made)[1:]) == "abc\r\n"


def test_full_recording_says_so(make, monkeypatch):
    """It ends with a mark, and what comes after is not kept."""
    monkeypatch.setattr(recording, "MOST_BYTES", 1000)
    made = make()
    for _ in range(100):
        made.feed(b"0123456789\r\n")
    made.close()

    assert not made.complete
    assert made.path.stat().st_size < 1200
    assert lines(made)[-1][1:] == ["m", "the recording is full"]


def test_existing_file_is_never_overwritten(make):
    """A record stays."""
    make().close()

    with pytest.raises(AuditUnavailable, match="recorded"):
        make()


def test_what_cannot_be_written_is_not_shown(make):
    """No record, no terminal."""
    made = make()
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, made._file.fileno())
    os.close(full)

    with pytest.raises(AuditUnavailable, match="No space"):
        made.feed(b"hello there\r\n")
    made.close()
