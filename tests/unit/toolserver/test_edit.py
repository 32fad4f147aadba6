from __future__ import annotations

import os

import pytest
from edit import MAX_FILE, plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusal import Refusal
from spans import Haystack, replaced

from tests.support.boxed_files import BoxedFiles


def test_answer_has_every_documented_field(box: BoxedFiles) -> None:
    """The shape is a contract with the host."""
    box.put("a.txt", "one\ntwo\nthree\n")

    assert box.edit("a.txt", ("one", "1"), ("three", "3")) == {
        "replacements": 2,
        "lines": [1, 3],
        "diff": f"--- {box.workdir}/a.txt\n+++ {box.workdir}/a.txt\n@@ -1,3 +1,3 @@\n"
        "-one\n+1\n two\n-three\n+3\n",
    }


def test_several_matches_name_lines_up_to_five(box: BoxedFiles) -> None:
    """The model can choose the one it meant."""
    box.put("a.txt", "x\n" * 7)

    code, message = box.refused_edit("a.txt", ("x", "y"))

    assert code == "many_matches"
    assert "7 times" in message
    assert "lines 1, 2, 3, 4, 5, ..." in message
    assert "replaceAll" in message


def test_replace_all_replaces_every_occurrence(box: BoxedFiles) -> None:
    """All of them, and their number is told."""
    path = box.put("a.txt", "x y x\nx\n")

    assert box.edit("a.txt", ("x", "zz"), replace_all=True)["replacements"] == 3
    assert path.read_text() == "zz y zz\nzz\n"


def test_replace_all_without_a_match_is_refused(box: BoxedFiles) -> None:
    """Replacing nothing is not what was asked for."""
    box.put("a.txt", "x\n")

    assert box.refused_edit("a.txt", ("y", "z"), replace_all=True)[0] == "no_match"


@pytest.mark.parametrize(("old", "new"), [("one", "one"), ("one\r\ntwo", "one\ntwo")])
def test_edit_that_changes_nothing_is_refused(box: BoxedFiles, old: str, new: str) -> None:
    """A call without effect is a mistake, and line endings are not what edit changes."""
    path = box.put("a.txt", "one\ntwo\n")
    before = path.stat().st_mtime_ns

    assert box.refused_edit("a.txt", (old, new))[0] == "no_change"
    assert path.stat().st_mtime_ns == before


def test_overlap_names_both_edits_and_the_line(box: BoxedFiles) -> None:
    """Which two, and where."""
    box.put("a.txt", "zero\nabcdef\n")

    code, message = box.refused_edit("a.txt", ("def", "2"), ("cde", "1"))

    assert code == "overlap"
    assert "edits 2 and 1 overlap at line 2" in message


def test_bytes_that_are_no_text_survive(box: BoxedFiles) -> None:
    """Content is bytes; only the region changes."""
    path = box.put("a.txt", b"\xff\xfeword\0\x80 end")

    # UTF-16 is told by its mark at the very start; this file has it elsewhere.
    path.write_bytes(b"a\xff\xfeword\0\x80 end")
    box.edit("a.txt", ("word", "text"))

    assert path.read_bytes() == b"a\xff\xfetext\0\x80 end"


def test_wide_text_is_refused_with_the_way_to_convert(box: BoxedFiles) -> None:
    """UTF-16 would never match; the message says why."""
    box.put("a.txt", "hello".encode("utf-16"))

    code, message = box.refused_edit("a.txt", ("hello", "x"))

    assert code == "binary"
    assert "UTF-16" in message


def test_oversized_file_is_refused_unread(box: BoxedFiles) -> None:
    """Memory is bounded, and a tool for it is named."""
    with box.put("a.txt", "").open("wb") as file:
        file.truncate(MAX_FILE + 1)

    code, message = box.refused_edit("a.txt", ("a", "b"))

    assert code == "too_large"
    assert "sed" in message


def test_too_many_replacements_are_refused(box: BoxedFiles) -> None:
    """Spans are bounded, too."""
    box.put("a.txt", "x" * 200_000)

    assert box.refused_edit("a.txt", ("x", "y"), replace_all=True)[0] == "too_large"


def test_missing_file_is_refused_with_a_suggestion(box: BoxedFiles) -> None:
    """Edit creates nothing."""
    box.put("settings.py", "x")

    code, message = box.refused_edit("setings.py", ("x", "y"))

    assert code == "not_found"
    assert "settings.py" in message


def test_no_edits_are_refused(box: BoxedFiles) -> None:
    """An empty list asks for nothing."""
    box.put("a.txt", "x")

    assert box.refused_edit("a.txt")[0] == "invalid"


def test_joined_lines_are_one_change_in_the_diff(box: BoxedFiles) -> None:
    """A removed newline takes the next line into the change."""
    box.put("a.txt", "one\ntwo\nthree\n")

    diff = box.edit("a.txt", ("one\n", "one "))["diff"]

    assert "-one\n-two\n+one two\n three\n" in diff


def test_mark_in_the_texts_is_taken_for_the_files_own(box: BoxedFiles) -> None:
    """A model that copies the mark matches, and the mark is not doubled."""
    path = box.put("a.txt", b"\xef\xbb\xbfone\n")

    box.edit("a.txt", ("\ufeffone", "\ufefftwo"))

    assert path.read_bytes() == b"\xef\xbb\xbftwo\n"


def test_refusal_says_that_nothing_was_written(box: BoxedFiles) -> None:
    """The model need not look."""
    box.put("a.txt", "x")

    assert box.refused_edit("a.txt", ("y", "z"))[1].endswith("nothing was written")


WORDS = ["alpha", "beta", "gamma", "delta"]


@given(st.permutations(range(4)), st.sampled_from([b"\n", b"\r\n"]))
def test_any_order_of_edits_gives_the_same_result(order: list[int], ending: bytes) -> None:
    """Edits are a set: each is matched against the original."""
    content = ending.join(word.encode() for word in WORDS)
    pairs = [(word.encode(), word.upper().encode() + b"\nmore") for word in WORDS]
    haystack = Haystack(content)

    spans = plan(haystack, [pairs[index] for index in order], replace_all=False)

    expected = ending.join(word.upper().encode() + ending + b"more" for word in WORDS)
    assert replaced(content, spans) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.text("ab \n\r\u00e9", max_size=30), old=st.text("ab\n", min_size=1, max_size=3))
def test_any_refused_edit_leaves_the_file_alone(box: BoxedFiles, content: str, old: str) -> None:
    """Either the one match is replaced or no byte changes."""
    path = box.put("a.txt", content.encode())
    count = Haystack(content.encode()).occurrences(old.encode())

    answer = box.serve("edit", "a.txt", edits=[{"old": old, "new": "ZZ"}])

    if len(count) == 1:
        assert b"ZZ" in path.read_bytes()
    else:
        assert answer["code"] in {"no_match", "many_matches"}
        assert path.read_bytes() == content.encode()


def test_plan_refuses_empty_text_that_only_the_mark_fills() -> None:
    """A mark alone is nothing to look for."""
    with pytest.raises(Refusal) as refused:
        plan(Haystack(b"x"), [(b"\xef\xbb\xbf", b"y")], replace_all=False, mark=b"\xef\xbb\xbf")

    assert refused.value.code == "empty_old"


def test_pipe_is_refused_without_waiting(box: BoxedFiles) -> None:
    """As for reading."""
    os.mkfifo(box.workdir / "pipe")

    assert box.refused_edit("pipe", ("a", "b"))[0] == "not_regular"
