"""The corpus's edit cases; each function's name begins with the case's id."""

from __future__ import annotations

import os
import stat

import pytest

from tests.support.boxed_files import BoxedFiles


def test_files_edit_01_lf_text_matches_crlf(box: BoxedFiles) -> None:
    path = box.put("a.txt", b"one\r\ntwo\r\nthree\r\n")

    assert box.edit("a.txt", ("one\ntwo", "ONE\nTWO"))["replacements"] == 1

    assert path.read_bytes() == b"ONE\r\nTWO\r\nthree\r\n"


def test_files_edit_02_mixed_endings_stay(box: BoxedFiles) -> None:
    path = box.put("a.txt", b"one\ntwo\r\nthree word\n")

    box.edit("a.txt", ("word", "text"))

    assert path.read_bytes() == b"one\ntwo\r\nthree text\n"


def test_files_edit_03_replace_all_matches_crlf_too(box: BoxedFiles) -> None:
    path = box.put("a.txt", b"a\r\nb\r\nx\r\na\r\nb\r\n")

    assert box.edit("a.txt", ("a\nb", "1\n2"), replace_all=True)["replacements"] == 2

    assert path.read_bytes() == b"1\r\n2\r\nx\r\n1\r\n2\r\n"


def test_files_edit_05_mark_stays_and_need_not_be_sent(box: BoxedFiles) -> None:
    path = box.put("a.txt", b"\xef\xbb\xbffirst word\r\nx\r\n")

    box.edit("a.txt", ("first", "FIRST"))

    assert path.read_bytes() == b"\xef\xbb\xbfFIRST word\r\nx\r\n"


def test_files_edit_06_accents_and_mark_survive(box: BoxedFiles) -> None:
    before = "\ufeffcaf\u00e9 na\u00efve\nplain word\n"
    path = box.put("a.txt", before)

    box.edit("a.txt", ("word", "text"))

    assert path.read_bytes() == before.replace("word", "text").encode()


def test_files_edit_07_missing_last_newline_stays_missing(box: BoxedFiles) -> None:
    path = box.put("a.txt", "one\nlast")

    box.edit("a.txt", ("last", "end"))

    assert path.read_bytes() == b"one\nend"


def test_files_edit_09_no_match_changes_nothing(box: BoxedFiles) -> None:
    path = box.put("a.txt", "one\n")
    before = path.stat()

    code, message = box.refused_edit("a.txt", ("zzz", "y"))

    assert code == "no_match"
    assert "a.txt" in message
    assert "0 times" in message
    assert path.read_text() == "one\n"
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_files_edit_10_many_matches_name_their_lines(box: BoxedFiles) -> None:
    path = box.put("a.txt", "1\nx\n3\nx\n5\nx\n")

    code, message = box.refused_edit("a.txt", ("x", "y"))

    assert code == "many_matches"
    assert "3 times" in message
    assert "lines 2, 4, 6)" in message
    assert path.read_text() == "1\nx\n3\nx\n5\nx\n"


@pytest.mark.parametrize(("content", "old"), [("aaaa", "aa"), ("aaaa", "aaa"), ("abab a", "aba")])
def test_files_edit_11_overlapping_occurrences_count(
    box: BoxedFiles, content: str, old: str
) -> None:
    path = box.put("a.txt", content)

    if old == "aba":
        box.edit("a.txt", (old, "b"))
        return
    assert box.refused_edit("a.txt", (old, "b"))[0] == "many_matches"
    assert path.read_text() == content


def test_files_edit_12_empty_text_is_refused(box: BoxedFiles) -> None:
    for content in ("", "x", "one\ntwo\n"):
        path = box.put("a.txt", content)

        assert box.refused_edit("a.txt", ("", "y"))[0] == "empty_old"
        assert path.read_text() == content


def test_files_edit_15_replacement_is_no_template(box: BoxedFiles) -> None:
    path = box.put("a.txt", "v=OLD;")
    new = "$&_dup $$ \\1 \\g<0> $`"

    box.edit("a.txt", ("OLD", new))

    assert path.read_text() == f"v={new};"


def test_files_edit_16_old_text_is_no_pattern(box: BoxedFiles) -> None:
    path = box.put("a.txt", "a.*(b)+[ and aXb")

    box.edit("a.txt", ("a.*(b)+[", "z"))

    assert path.read_text() == "z and aXb"


def test_files_edit_18_overlapping_edits_are_refused(box: BoxedFiles) -> None:
    path = box.put("a.txt", "abcdef")

    code, message = box.refused_edit("a.txt", ("abcd", "1"), ("cdef", "2"))

    assert code == "overlap"
    assert "edits 1 and 2" in message
    assert path.read_text() == "abcdef"


def test_files_edit_19_edits_match_the_original(box: BoxedFiles) -> None:
    path = box.put("a.txt", "aaa bbb")

    code, message = box.refused_edit("a.txt", ("aaa", "ccc"), ("ccc", "d"))

    assert code == "no_match"
    assert "edit 2 of 2" in message
    assert path.read_text() == "aaa bbb"


def test_files_edit_20_all_or_none(box: BoxedFiles) -> None:
    path = box.put("a.txt", "one two")

    code, message = box.refused_edit("a.txt", ("one", "1"), ("two", "2"), ("three", "3"))

    assert code == "no_match"
    assert "edit 3 of 3" in message
    assert path.read_text() == "one two"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_files_edit_21_touching_edits_are_allowed(box: BoxedFiles, order: tuple[int, int]) -> None:
    path = box.put("a.txt", "abcdef")
    pairs = (("abc", "1"), ("def", "2"))

    box.edit("a.txt", *(pairs[index] for index in order))

    assert path.read_text() == "12"


def test_files_edit_24_curly_quotes_do_not_match_straight_ones(box: BoxedFiles) -> None:
    content = "x\nsay(\u2018hi\u2019)\n"
    path = box.put("a.txt", content)

    code, message = box.refused_edit("a.txt", ("say('hi')", "y"))

    assert code == "no_match"
    assert "0 times" in message
    assert "line 2" in message
    assert "say(\u2018hi\u2019)" in message
    assert path.read_text() == content


def test_files_edit_28_executable_stays_executable(box: BoxedFiles) -> None:
    path = box.put("script.sh", "#!/bin/sh\necho old\n")
    path.chmod(0o755)

    box.edit("script.sh", ("old", "new"))

    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_files_edit_29_mode_and_group_stay(box: BoxedFiles) -> None:
    path = box.put("a.txt", "old\n")
    groups = [gid for gid in (os.getgroups() or [os.getgid()]) if gid != path.stat().st_gid]
    group = 54321 if os.geteuid() == 0 else (groups or [path.stat().st_gid])[0]
    os.chown(path, -1, group)
    path.chmod(0o640)

    box.edit("a.txt", ("old", "new"))

    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_gid == group


def test_files_edit_30_link_stays_a_link(box: BoxedFiles) -> None:
    path = box.put("a.txt", "old\n")
    (box.workdir / "b").symlink_to("a.txt")

    box.edit("b", ("old", "new"))

    assert path.read_text() == "new\n"
    assert (box.workdir / "b").is_symlink()
