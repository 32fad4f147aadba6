from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from window import BLOCK, MAX_LINE, Window, cut_at_character, scan


def window_of(
    path: Path, content: bytes, *, offset: int = 1, limit: int = 2000, max_bytes: int = 50_000
) -> Window:
    path.write_bytes(content)
    handle = os.open(path, os.O_RDONLY)
    try:
        return scan(handle, size=len(content), offset=offset, limit=limit, max_bytes=max_bytes)
    finally:
        os.close(handle)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    lines=st.lists(st.text("ab\u00e9", max_size=6), min_size=1, max_size=12),
    ending=st.booleans(),
    offset=st.integers(1, 14),
    limit=st.integers(1, 14),
)
def test_any_window_is_the_slice_of_the_lines(
    tmp_path: Path, *, lines: list[str], ending: bool, offset: int, limit: int
) -> None:
    """A window is what slicing the list of lines would give, and the count is theirs."""
    text = "\n".join(lines) + ("\n" if ending else "")
    expected = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    if not text:
        expected = []

    window = window_of(tmp_path / "f", text.encode(), offset=offset, limit=limit)

    assert window.lines == expected[offset - 1 : offset - 1 + limit]
    assert window.total_lines == len(expected)
    more = offset - 1 + limit < len(expected) and window.lines
    assert window.next_offset == (offset + limit if more else None)


PIECES = (
    b"a", b"\n", b"\n", b"\r\n", b"\r", b"\0", b"\xff", "\u00e9".encode(), b"\xef\xbb\xbf",
    b"x" * (MAX_LINE - 1), b"y" * (MAX_LINE + 1),
)  # fmt: skip


def shown_line(raw: bytes, number: int) -> str:
    """Return one line as a window shows it, said in the plainest way."""
    shown = cut_at_character(raw.removesuffix(b"\r"), MAX_LINE)
    if number == 1:
        shown = shown.removeprefix(b"\xef\xbb\xbf")
    return shown.decode("utf-8", "replace")


def fitting(lines: list[str], budget: int) -> list[str]:
    """Return the first lines that fit together, and one in any case."""
    costs = itertools.accumulate(1 + len(line.encode()) for line in lines)
    return [line for number, (line, cost) in enumerate(zip(lines, costs, strict=True))
            if not number or cost <= budget]  # fmt: skip


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300
)
@given(
    content=st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join),
    offset=st.integers(1, 4),
    limit=st.integers(1, 9),
    max_bytes=st.sampled_from([1, 3, 8, 20, MAX_LINE, 3 * MAX_LINE, 50_000]),
)
def test_any_content_is_shown_line_by_line(
    tmp_path: Path, *, content: bytes, offset: int, limit: int, max_bytes: int
) -> None:
    """Lines that are taken at once come out as if each were looked at alone."""
    raw = content.split(b"\n")
    raw = raw[:-1] if raw[-1] == b"" else raw
    lines = [shown_line(line, number) for number, line in enumerate(raw, 1)]
    expected = fitting(lines[offset - 1 : offset - 1 + limit], max_bytes)

    window = window_of(tmp_path / "f", content, offset=offset, limit=limit, max_bytes=max_bytes)

    assert window.lines == expected
    assert window.total_lines == len(raw)
    assert window.binary == any("\0" in line for line in expected)
    cut = [number for number, line in enumerate(raw, 1) if len(line.removesuffix(b"\r")) > MAX_LINE]
    assert [item.line for item in window.cuts] == [
        number for number in cut if offset <= number < offset + len(expected)
    ]


def test_window_ends_at_the_byte_limit_with_whole_lines(tmp_path: Path) -> None:
    """No line is split to fill the limit."""
    window = window_of(tmp_path / "f", b"12345\n" * 100, max_bytes=20)

    assert window.lines == ["12345"] * 3
    assert window.next_offset == 4
    assert window.total_lines == 100


@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf"])
def test_what_is_not_shown_costs_nothing(tmp_path: Path, head: bytes) -> None:
    """Returns and the mark at the start leave room for as many lines as without them."""
    window = window_of(tmp_path / "f", head + b"a\r\n" * 9, max_bytes=14)

    assert window.lines == ["a"] * 7


def test_first_line_is_always_shown(tmp_path: Path) -> None:
    """A read makes progress even when one line exceeds the limit."""
    window = window_of(tmp_path / "f", b"x" * 100 + b"\ny\n", max_bytes=10)

    assert window.lines == ["x" * 100]
    assert window.next_offset == 2


def test_huge_line_is_cut_and_measured(tmp_path: Path) -> None:
    """A line across many blocks costs no memory and tells its size."""
    size = 3 * BLOCK + 17
    window = window_of(tmp_path / "f", b"a\n" + b"y" * size + b"\nz")

    assert window.lines == ["a", "y" * MAX_LINE, "z"]
    assert [(cut.line, cut.shown, cut.size) for cut in window.cuts] == [(2, MAX_LINE, size)]


@pytest.mark.parametrize("before", range(4))
def test_cut_never_splits_a_character(tmp_path: Path, before: int) -> None:
    """The cut moves back to a character's border."""
    window = window_of(tmp_path / "f", b"x" * before + "\U0001f600".encode() * MAX_LINE)

    assert "\ufffd" not in window.lines[0]
    assert len(window.lines[0].encode()) <= MAX_LINE


def test_line_of_exactly_the_limit_is_not_cut(tmp_path: Path) -> None:
    """A return at the end does not count."""
    window = window_of(tmp_path / "f", b"x" * MAX_LINE + b"\r\n")

    assert window.lines == ["x" * MAX_LINE]
    assert window.cuts == []


def test_offset_in_a_later_block_is_found(tmp_path: Path) -> None:
    """Lines before the window are counted, not kept."""
    content = b"".join(b"%d\n" % number for number in range(1, 200_001))

    window = window_of(tmp_path / "f", content, offset=150_000, limit=2)

    assert window.lines == ["150000", "150001"]
    assert window.total_lines == 200_000


def test_mark_at_the_start_is_not_shown(tmp_path: Path) -> None:
    """A byte order mark is no part of the first line."""
    assert window_of(tmp_path / "f", b"\xef\xbb\xbfone").lines == ["one"]


def test_invalid_bytes_become_replacement_characters_within_the_limit(tmp_path: Path) -> None:
    """The limit counts what is sent, not what is stored."""
    window = window_of(tmp_path / "f", b"\xff" * 30 + b"\nx\n", max_bytes=60)

    assert window.lines == ["\ufffd" * 30]


@given(st.text(min_size=1, max_size=20), st.integers(0, 60))
def test_cut_text_is_always_valid(text: str, limit: int) -> None:
    """A prefix cut at a character decodes."""
    raw = text.encode("utf-8", "ignore")

    assert raw.startswith(cut_at_character(raw, limit))
    cut_at_character(raw, limit).decode()
