"""Readings of a text lead back to the places they came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.redaction.views import plain_readings, views_of, without_cut_escape


def readings(text: str) -> list[str]:
    return [reading for reading, _ in views_of(text, punctuation=True)]


@pytest.mark.parametrize(
    "escaped",
    [
        "a\nb c", "a\r\n    b c", "a\\\nb c", "\x1b[1;31ma\x1b[0mb c", "a\u200bb c", "a\x00b c", "%61b%20c",
        r"\u0061b\u0020c", r"\x61b\x20c", "&#97;b&#x20;c", "ab%2520c", r"\\u0061b c", "ab\\ c",
    ],
)  # fmt: skip
def test_escapes_and_wrapping_are_read_through(escaped: str) -> None:
    """One of the readings is the plain text."""
    assert "ab c" in readings(escaped)


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (r"\"\\\/", '"\\/'),
        ("&lt;&amp;&gt;&quot;&apos;", "<&>\"'"),
        (r"it'\''s", "it's"),
        ("%C3%A9%2F", "é/"),
        (r"a\nb", "a\nb"),
    ],
)
def test_punctuation_is_read_through(escaped: str, plain: str) -> None:
    """JSON, HTML, shell and URL spellings of the same."""
    assert plain in readings(escaped)


def test_plain_text_has_one_reading() -> None:
    """Nothing to unwrap costs nothing."""
    assert readings("plain text") == ["plain text"]


def test_narrow_reading_leaves_punctuation() -> None:
    """Where no secret holds punctuation, its escapes are not read."""
    found = [reading for reading, _ in views_of(r"\"a\" %22", punctuation=False)]

    assert found == [r"\"a\" %22"]


def test_range_inside_an_escape_group_leads_to_the_whole_group() -> None:
    """What was decoded together is covered together."""
    text = "a%C3%A8%C3%A9b"
    ranges = {reading: back(reading.index("é"), reading.index("é") + 1)
              for reading, back in views_of(text, punctuation=True) if "é" in reading}  # fmt: skip

    assert ranges == {"aèéb": (1, 13)}


@given(st.text(st.sampled_from("ab %61\\nu0\n\r\t&#;x'\x1b[m\u200b"), max_size=40), st.data())
def test_every_range_of_a_reading_leads_back(text: str, data: st.DataObject) -> None:
    """The way back keeps order, stays inside, and covers at least one character."""
    for reading, back in views_of(text, punctuation=True):
        if not reading:
            continue
        start = data.draw(st.integers(0, len(reading) - 1))
        end = data.draw(st.integers(start + 1, len(reading)))
        first, last = back(start, end)
        assert 0 <= first < last <= len(text)
        whole_first, whole_last = back(0, len(reading))
        assert whole_first <= first < last <= whole_last


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("abc%", "abc"), ("abc%2", "abc"), ("abc\\", "abc"), ("abc\\u00", "abc"), ("abc\\x4", "abc"), ("abc&am", "abc"),
        ("abc\x1b[3", "abc"), ("abc'\\", "abc"), ("abc", "abc"), ("a%41", "a"),
    ],
)  # fmt: skip
def test_escape_cut_by_the_end_is_left_out(text: str, cut: str) -> None:
    """Half an escape is not read as what it is not."""
    assert without_cut_escape(text) == cut


@given(
    st.lists(
        st.sampled_from([*"a%\\u0025&#;\n\r\t x'\"", "\x1b[1m", "&amp;", "%25", "\u200b", "\x00"]),
        max_size=30,
    ),
    st.booleans(),
)
def test_fast_readings_are_the_same(pieces: list[str], punctuation: bool) -> None:
    """What the fast ones do not hold, the others do not either."""
    text = "".join(pieces)
    slow = {reading for reading, _ in views_of(text, punctuation=punctuation)}

    assert set(plain_readings(text, punctuation=punctuation)) == slow
