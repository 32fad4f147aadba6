from __future__ import annotations

import os

from tests.support.boxed_files import BoxedFiles, names_in


def test_new_file_is_created_with_its_folders(box: BoxedFiles) -> None:
    """Missing directories are made, and the answer says the file is new."""
    data = box.data("write", "a/b/c.txt", content="one\n")

    assert (box.workdir / "a/b/c.txt").read_bytes() == b"one\n"
    assert (data["bytes"], data["created"]) == (4, True)
    assert "+one" in data["diff"]


def test_existing_file_is_replaced_whole(box: BoxedFiles) -> None:
    """Nothing of the old content is left, and the diff tells the change."""
    path = box.put("a.txt", "one\ntwo\n" * 50)

    data = box.data("write", "a.txt", content="one\n")

    assert path.read_bytes() == b"one\n"
    assert data["created"] is False
    assert "-two" in data["diff"]


def test_content_is_written_byte_for_byte(box: BoxedFiles) -> None:
    """No newline is added or changed."""
    box.data("write", "a.txt", content="\ufeffa\r\nb\rc\n\u00e9\0")

    assert (box.workdir / "a.txt").read_bytes() == b"\xef\xbb\xbfa\r\nb\rc\n\xc3\xa9\0"


def test_directory_and_pipe_are_refused(box: BoxedFiles) -> None:
    """Only regular files are written."""
    (box.workdir / "d").mkdir()
    os.mkfifo(box.workdir / "pipe")

    assert box.refusal("write", "d", content="x")[0] == "not_regular"
    assert box.refusal("write", "pipe", content="x")[0] == "not_regular"
    assert box.refusal("write", "new/", content="x")[0] == "not_found"
    assert names_in(box.workdir) == ["d", "pipe"]


def test_new_name_with_control_characters_is_refused(box: BoxedFiles) -> None:
    r"""``dir\new.txt`` is a slip, not a wish for a newline."""
    code, message = box.refusal("write", r"dir\new.txt", content="x")

    assert code == "invalid"
    assert "divided by /" in message
    assert names_in(box.workdir) == []


def test_existing_name_with_control_characters_is_written(box: BoxedFiles) -> None:
    """What is there can be worked on."""
    path = box.put("a\nb", "old")

    box.data("write", r"a\nb", content="new")

    assert path.read_bytes() == b"new"


def test_half_surrogate_is_refused(box: BoxedFiles) -> None:
    """Text that cannot be encoded is not replaced by something else."""
    assert box.refusal("write", "a.txt", content="a\ud800")[0] == "invalid"
    assert names_in(box.workdir) == []


def test_link_is_kept_and_its_target_written(box: BoxedFiles) -> None:
    """A link inside the workspace stays one."""
    target = box.put("real/a.txt", "old")
    (box.workdir / "link").symlink_to("real/a.txt")

    box.data("write", "link", content="new")

    assert (box.workdir / "link").is_symlink()
    assert target.read_text() == "new"


def test_diff_of_binary_or_huge_content_is_left_out(box: BoxedFiles) -> None:
    """A diff is for reading."""
    box.put("a.bin", b"\0" * 100)
    box.put("b.txt", b"x\n" * 1_000_000)

    assert box.data("write", "a.bin", content="x")["diff"] == ""
    assert box.data("write", "b.txt", content="x")["diff"] == ""


def test_too_long_name_is_refused(box: BoxedFiles) -> None:
    """The operating system's limits are told in its words."""
    code, message = box.refusal("write", "n" * 300, content="x")

    assert code == "invalid"
    assert "too long" in message
