"""The corpus's read cases; each function's name begins with the case's id."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from window import MAX_LINE

from tests.support.boxed_files import BoxedFiles


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> BoxedFiles:
    box = BoxedFiles(tmp_path_factory.mktemp("million"))
    box.put("big.txt", b"".join(b"line %d\n" % number for number in range(1, 1_000_001)))
    return box


def test_files_read_01_empty_file_is_noted(box: BoxedFiles) -> None:
    box.put("a.txt", "")

    assert box.data("read", "a.txt") == {"type": "empty"}


def test_files_read_02_long_line_is_cut_and_marked(box: BoxedFiles) -> None:
    box.put("a.txt", b"x" * 3_000_000)

    data = box.data("read", "a.txt")

    assert len(data["text"]) == MAX_LINE
    assert data["cut_lines"] == [{"line": 1, "shown": MAX_LINE, "bytes": 3_000_000}]


def test_files_read_03_offset_past_the_end_names_the_count(million: BoxedFiles) -> None:
    code, message = million.refusal("read", "big.txt", offset=1_000_001)

    assert code == "invalid"
    assert "1000000 lines" in message


def test_files_read_04_window_of_a_large_file(million: BoxedFiles) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    data = million.data("read", "big.txt")

    assert data["text"].startswith("line 1\nline 2\n")
    assert (data["lines"], data["next_offset"], data["total_lines"]) == (2000, 2001, 1_000_000)
    # Kilobytes; the file has 13 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 6_000


def test_files_read_05_binary_is_reported_with_its_size(box: BoxedFiles) -> None:
    box.put("a.bin", b"\x7fELF\0\0\0\0" * 100)

    assert box.data("read", "a.bin") == {"type": "binary", "bytes": 800}


def test_files_read_07_pipe_is_refused_at_once(box: BoxedFiles) -> None:
    os.mkfifo(box.workdir / "pipe")

    assert box.refusal("read", "pipe")[0] == "not_regular"


def test_files_read_08_link_to_a_device_is_refused(box: BoxedFiles) -> None:
    (box.workdir / "zero").symlink_to("/dev/zero")

    assert box.refusal("read", "zero")[0] == "outside"


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/1/environ", "/proc/self/cwd/a.txt"])
def test_files_read_10_process_environment_is_refused(box: BoxedFiles, path: str) -> None:
    assert box.refusal("read", path)[0] == "outside"


@pytest.mark.parametrize("name", ["smaps", "auxv", "mem", "maps", "cmdline", "root/etc/passwd"])
def test_files_read_12_process_memory_is_refused(box: BoxedFiles, name: str) -> None:
    assert box.refusal("read", f"/proc/self/{name}")[0] == "outside"


def test_files_read_14_link_that_leaves_is_refused(box: BoxedFiles) -> None:
    (box.workdir / "link").symlink_to("/etc/hostname")

    code, message = box.refusal("read", "link")

    assert code == "outside"
    assert "/etc/hostname" in message


def test_files_read_15_middle_link_that_leaves_is_refused(box: BoxedFiles) -> None:
    (box.workdir / "out").symlink_to("/")

    assert box.refusal("read", "out/etc/passwd")[0] == "outside"


def test_files_read_16_sibling_with_the_same_prefix_is_refused(box: BoxedFiles) -> None:
    sibling = Path(f"{box.workdir}b")
    sibling.mkdir()
    (sibling / "secret.txt").write_text("secret")

    assert box.refusal("read", "../wsb/secret.txt")[0] == "outside"
    assert box.refusal("read", sibling / "secret.txt")[0] == "outside"


def test_files_read_17_dots_that_return_are_allowed(box: BoxedFiles) -> None:
    box.put("a.txt", "x")
    (box.workdir / "sub").mkdir()

    assert box.data("read", "sub/../a.txt")["text"] == "x"


@pytest.mark.parametrize("path", ["a.txt\0.png", r"a.txt\x00.png", r"a.txt\u0000.png"])
def test_files_read_18_nul_is_refused(box: BoxedFiles, path: str) -> None:
    box.put("a.txt", "x")

    assert box.refusal("read", path)[0] == "invalid"


def test_files_read_20_narrow_blank_is_suggested_never_read(box: BoxedFiles) -> None:
    box.put("shot 9\u202fAM.txt", "narrow")

    code, message = box.refusal("read", "shot 9 AM.txt")
    assert code == "not_found"
    assert r"shot 9\u202fAM.txt" in message
    assert box.data("read", r"shot 9\u202fAM.txt")["text"] == "narrow"

    box.put("shot 9 AM.txt", "plain")
    assert box.data("read", "shot 9 AM.txt")["text"] == "plain"


def test_files_read_22_decomposed_name_is_suggested_and_write_makes_its_own(
    box: BoxedFiles,
) -> None:
    box.put("cafe\u0301.txt", "old")

    code, message = box.refusal("read", "caf\u00e9.txt")
    assert code == "not_found"
    assert r"cafe\u0301.txt" in message
    assert box.data("read", r"cafe\u0301.txt")["text"] == "old"

    assert box.data("write", "caf\u00e9.txt", content="new")["created"] is True
    assert (box.workdir / "cafe\u0301.txt").read_text() == "old"
