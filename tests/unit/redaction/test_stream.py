"""A stream reads as if it had come whole, and is not kept waiting without need."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.redaction.redactor import Redactor
from orchestrator.redaction.stream import RedactingStream

from .conftest import made

KNOWN = made(31)
SPACED = "with space/+& end"
KEY = "\n".join(made(64, string.ascii_letters + "+/") for _ in range(25))
TEXTS = [
    f"plain words\nexport A=ghp_{made(36)}\nmore\n",
    f"log {KNOWN} end, {SPACED}, {KNOWN[:20]}\n{KNOWN[20:]} done",
    f"machine h\n  login u\n  password {made(10)}\nnext",
    f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\nafter\n",
    f'{{"password": "{made(14)}1a", "x": "Bearer {made(30)}"}} tail',
    f"https://u:{made(12)}@h/p and eyJ{made(30)}.eyJ{made(40)}.{made(43)}.",
    "no secret here, only words\nand lines\n" * 5,
]


def redactor() -> Redactor:
    return Redactor({"known": KNOWN, "spaced": SPACED}, key=bytes(32))


def streamed(text: str, sizes: list[int]) -> list[str]:
    pieces: list[str] = []
    stream = RedactingStream(redactor(), pieces.append)
    at = 0
    for size in sizes:
        stream.feed(text[at : at + size])
        at += size
    stream.feed(text[at:])
    stream.flush()
    return pieces


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 60), max_size=40))
def test_any_cut_gives_the_whole_text_redacted(text: str, sizes: list[int]) -> None:
    """Where the pieces end makes no difference."""
    assert "".join(streamed(text, sizes)) == redactor().redact(text)


@pytest.mark.parametrize("text", TEXTS)
def test_single_characters_give_the_whole_text_redacted(text: str) -> None:
    """The smallest pieces are no way around."""
    assert "".join(streamed(text, [1] * len(text))) == redactor().redact(text)


def test_plain_line_is_written_at_once() -> None:
    """Progress is seen while the command runs."""
    pieces: list[str] = []
    stream = RedactingStream(redactor(), pieces.append)

    stream.feed("compiling one\ncompiling two\ncompi")

    assert "".join(pieces) == "compiling one\ncompiling two\n"


def test_plain_words_are_written_up_to_the_open_one() -> None:
    """A prompt without line feed does not wait for one."""
    pieces: list[str] = []
    stream = RedactingStream(redactor(), pieces.append)

    stream.feed("Continue? [y/n] ")

    assert "".join(pieces) == "Continue? [y/n] "


def test_line_with_a_telling_word_waits_for_its_end() -> None:
    """The value may still come."""
    pieces: list[str] = []
    stream = RedactingStream(redactor(), pieces.append)

    stream.feed("password: ")
    assert pieces == []

    stream.feed(f"{made(14)}1a\n")
    assert "".join(pieces).startswith("password: [redacted:")


def test_endless_word_is_not_held_for_ever() -> None:
    """A stream without blanks cannot fill the memory."""
    pieces: list[str] = []
    stream = RedactingStream(redactor(), pieces.append)

    for _ in range(20):
        stream.feed("x" * 10_000)

    assert sum(map(len, pieces)) >= 180_000


def test_key_longer_than_what_is_held_stays_hidden() -> None:
    """A block's lines go even when its beginning was written long ago."""
    lines = [made(64, string.ascii_letters + str(at)) for at in range(3_000)]
    text = (
        "-----BEGIN PRIVATE KEY-----\n" + "\n".join(lines) + "\n-----END PRIVATE KEY-----\nafter\n"
    )

    result = "".join(streamed(text, [1_000] * (len(text) // 1_000)))

    assert not [line for line in lines if line in result]
    assert result.endswith("-----END PRIVATE KEY-----\nafter\n")


def test_stream_goes_on_after_a_flush() -> None:
    """Flushing ends nothing."""
    pieces: list[str] = []
    stream = RedactingStream(redactor(), pieces.append)
    stream.feed("one")
    stream.flush()
    stream.flush()
    stream.feed(" two")
    stream.flush()

    assert "".join(pieces) == "one two"
