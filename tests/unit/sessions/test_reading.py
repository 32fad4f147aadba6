"""A damaged entry costs itself, and the warning says so."""

from __future__ import annotations

import gc
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.entry import SessionHeader, encode_entry, encode_header
from orchestrator.sessions.reading import SessionContent, header_from_name, read_content
from orchestrator.sessions.tree import EntryTree

from .conftest import HEADER, entry, file_of, user

NAME = "20260102T030405_0123456789ab.jsonl"
THREE = (entry("e1", None), entry("e2", "e1"), entry("e3", "e2"))


def read(data: bytes) -> SessionContent:
    return read_content(data, name=NAME)


def ids(content: SessionContent) -> list[str]:
    return [one.id for one in content.entries]


def test_whole_file_reads_without_warning() -> None:
    """What was written is what is there."""
    content = read(file_of(*THREE))

    assert content.header == HEADER
    assert content.entries == list(THREE)
    assert content.warnings == []
    assert content.good_size == len(file_of(*THREE))


def test_crlf_file_reads_the_same() -> None:
    """No carriage return reaches the entries."""
    content = read(file_of(*THREE).replace(b"\n", b"\r\n"))

    assert content.entries == list(THREE)
    assert content.warnings == []


def test_byte_order_mark_is_no_damage() -> None:
    """An editor's mark in front changes nothing."""
    assert read(b"\xef\xbb\xbf" + file_of(*THREE)).header == HEADER


def test_torn_tail_is_named_and_left_out() -> None:
    """Half an entry was never acknowledged."""
    whole = file_of(*THREE)

    content = read(whole + encode_entry(entry("e4", "e3"))[:-30])

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.good_size == len(whole)
    assert content.warnings[0].startswith("line 5: torn, ")
    assert not content.tail_missing_newline


def test_torn_line_before_an_empty_one_is_skipped() -> None:
    """A fragment with a line feed after it is a damaged line."""
    content = read(file_of(*THREE) + b'{"type":"mess\n\n')

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.warnings == ["line 5: damaged, skipped (13 bytes)"]


def test_whole_last_line_without_line_feed_counts() -> None:
    """Only the line feed is missing."""
    content = read(file_of(*THREE)[:-1])

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.tail_missing_newline
    assert content.warnings == []


def test_damaged_line_among_thousands_costs_itself() -> None:
    """Everything behind it is there, in its place."""
    chain = [entry(f"e{at}", f"e{at - 1}" if at else None) for at in range(3000)]
    lines = file_of(*chain).split(b"\n")
    lines[40] = lines[40][:20] + b"\x07" + lines[40][25:]

    content = read(b"\n".join(lines))

    assert len(content.entries) == 2999
    assert content.entries[39].parent == "e38"
    assert content.warnings == [
        "line 41: damaged, skipped (148 bytes)".replace("148", str(len(lines[40]))),
        "line 42: parent e39 is missing, placed after e38",
    ]


def test_nul_bytes_of_a_crash_are_skipped() -> None:
    """A file system's hole costs nothing behind it."""
    head, tail = file_of(THREE[0]), encode_entry(THREE[1]) + encode_entry(THREE[2])

    on_own_line = read(head + b"\0" * 300 + b"\n" + tail)
    before_entry = read(head + b"\0" * 300 + tail)

    assert ids(on_own_line) == ids(before_entry) == ["e1", "e2", "e3"]
    assert on_own_line.warnings == ["line 3: 300 empty bytes left by a crash"]
    assert before_entry.warnings == ["line 3: 300 empty bytes left by a crash"]


def test_glued_entries_are_both_recovered() -> None:
    """Two objects on one line are two entries."""
    content = read(file_of(*THREE).replace(b"\n", b"", 3).replace(b"}{", b"}{"))

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.header == HEADER
    assert content.warnings == ["line 1: 4 entries on one line"]


def test_entry_behind_a_fragment_is_recovered() -> None:
    """A writer that did not mend the tail glued its entry to it."""
    fragment = encode_entry(entry("lost", "e1"))[:40]
    data = file_of(THREE[0]) + fragment + encode_entry(THREE[1]) + encode_entry(THREE[2])

    content = read(data)

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.warnings == ["line 3: partly damaged, 1 recovered"]


def test_hostile_line_of_beginnings_is_given_up() -> None:
    """The search for entries in one damaged line ends."""
    content = read(file_of(*THREE) + b'{"type":' * 50_000 + b"\n")

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.warnings[0].startswith("line 5: damaged")


def test_deeply_nested_line_is_damage() -> None:
    """No line can exhaust the reader's stack."""
    assert ids(read(file_of(*THREE) + b"[" * 100_000 + b"\n")) == ["e1", "e2", "e3"]


def test_bytes_that_are_no_utf8_are_shown() -> None:
    """The entry stays, the bytes are visible, the warning says where."""
    line = encode_entry(entry("e4", "e3")).replace(b'"text":"e4"', b'"text":"\xff\xfe"')

    content = read(file_of(*THREE) + line)

    assert content.entries[3].body == encode_message(user("\ufffd\ufffd"))
    assert content.warnings == ["line 5: bytes that are not UTF-8 read as U+FFFD"]


def test_half_surrogates_of_other_writers_are_mended() -> None:
    """An escape can smuggle in what UTF-8 cannot."""
    line = encode_entry(entry("e4", "e3")).replace(b'"text":"e4"', b'"text":"\\ud83d"')

    assert read(file_of(*THREE) + line).entries[3].body == encode_message(user("\ufffd"))


def test_double_entry_counts_once() -> None:
    """A line copied by a synchroniser is no second entry."""
    content = read(file_of(*THREE) + encode_entry(THREE[2]))

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.warnings == ["line 5: entry e3 is there already, skipped"]


def test_message_that_cannot_be_told_again_is_damage() -> None:
    """A body that no request could carry costs its entry only."""
    bad = [
        entry("b1", "e3", body={}),
        entry("b2", "e3", body={"role": "user", "content": 7}),
        entry("b3", "e3", body={"role": "god", "content": []}),
        entry("b4", "e3", body={"role": "user", "content": [7]}),
    ]

    content = read(file_of(*THREE, *bad))

    assert ids(content) == ["e1", "e2", "e3"]
    assert len(content.warnings) == 4


def test_orphan_goes_to_where_the_conversation_stood() -> None:
    """After a move of the leaf that is the leaf's target, not the line before."""
    move = entry("m1", "e3", type="leaf", body={"target": "e1"})

    assert read(file_of(*THREE, move, entry("o1", "gone"))).entries[-1].parent == "e1"
    assert read(file_of(entry("o1", "gone"))).entries[0].parent is None
    assert read(file_of(*THREE, entry("o1", "gone"))).entries[-1].parent == "e3"


def test_child_before_its_parent_cannot_make_a_circle() -> None:
    """A parent counts only if it came before."""
    content = read(file_of(entry("a", "b"), entry("b", "a")))

    assert [(one.id, one.parent) for one in content.entries] == [("a", None), ("b", "a")]


@pytest.mark.parametrize("data", [b"", b"\n", b"\0" * 400, b"\r\n\0"])
def test_empty_file_is_a_new_session(data: bytes) -> None:
    """Nothing in it is lost, and the person is told."""
    content = read(data)

    assert content.is_new
    assert content.header.id == "0123456789ab"
    assert "the file was empty, so the session starts anew" in content.warnings


def test_lost_header_is_told_by_the_files_name() -> None:
    """The entries are worth more than their first line."""
    content = read(b"garbage\n" + file_of(*THREE, header=None))

    assert ids(content) == ["e1", "e2", "e3"]
    assert content.header == SessionHeader(SessionId("0123456789ab"), "", "20260102T030405")
    assert content.warnings[-1] == "the header is lost; the id comes from the file's name"


def test_second_header_is_skipped() -> None:
    """The first one counts."""
    other = SessionHeader(SessionId("ffffffffffff"), "/x", "")

    content = read(file_of(*THREE) + encode_header(other))

    assert content.header == HEADER
    assert content.warnings == ["line 5: a second header, skipped"]


@pytest.mark.parametrize("data", [b"# notes\n", b'{"a":1}\n', b"\x7fELF\x00\x01", b"[]"])
def test_other_file_is_refused(data: bytes) -> None:
    """A wrong path never becomes a session."""
    with pytest.raises(SessionError, match="not a session file"):
        read(data)


def test_newer_format_is_refused() -> None:
    """What is not understood is not written to."""
    data = json.loads(encode_header(HEADER))
    with pytest.raises(SessionError, match="expected up to version 2, got 3"):
        read(json.dumps({**data, "version": 3}).encode() + b"\n")


def test_name_without_parts_still_gives_a_header() -> None:
    """Any file name will do."""
    assert header_from_name("odd.jsonl").id == "odd"


@given(st.data())
def test_any_damage_leaves_a_tree(data: st.DataObject) -> None:
    """Whatever bytes change, what is read hangs together and keeps most entries."""
    chain = [entry(f"e{at}", f"e{at - 1}" if at else None) for at in range(12)]
    raw = bytearray(file_of(*chain))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))

    content = read(bytes(raw))

    seen: set[str] = set()
    for one in content.entries:
        assert one.parent is None or one.parent in seen
        seen.add(one.id)
    assert len(content.entries) >= 12 - 6


@pytest.mark.parametrize("damage", [b"", b"\x00damage\n"])
def test_collection_of_cycles_goes_on_after_reading(damage: bytes) -> None:
    """It pauses while a file is read, and only then; off stays off."""
    gc.enable()
    read(file_of(entry("a", None)) + damage)
    assert gc.isenabled()

    gc.disable()
    try:
        read(file_of(entry("a", None)))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_escaped_halves_are_mended_wherever_they_stand() -> None:
    """Ours are written as they are; a file of another writer may have escapes."""
    line = encode_entry(entry("a", None)).replace(b'"text":"a"', b'"text":"\\uD83D\\uDE00 \\ud83d"')

    (found,) = read(encode_header(HEADER) + line).entries

    assert found.body["content"][0]["text"] == "\U0001f600 \ufffd"


@pytest.mark.parametrize("replacement", ["text", 5, {}, {"role": "user"}, [], {"role": "x"}])
def test_edit_that_cannot_be_told_costs_itself_alone(replacement: object) -> None:
    """Else every later request would fail on it: the message is told as it was."""
    body = {"target": "a", "replacement": replacement}
    edit = entry("b", "a", type="context_edit", body=body)
    content = read(file_of(entry("a", None), edit, entry("c", "b")))

    assert [one.id for one in content.entries] == ["a", "c"]
    assert content.warnings[0].startswith("line 3: damaged")
    assert EntryTree(content.entries).messages() == (user("a"), user("c"))


def test_edit_that_leaves_out_is_usable() -> None:
    """Null is a replacement."""
    edit = entry("b", "a", type="context_edit", body={"target": "a", "replacement": None})

    assert read(file_of(entry("a", None), edit)).warnings == []
