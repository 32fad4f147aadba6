from __future__ import annotations

import os
import socket

import pytest

from tests.support.boxed_files import BoxedFiles


def test_text_answer_has_every_documented_field(box: BoxedFiles) -> None:
    """The shape is a contract with the host."""
    box.put("a.txt", "one\ntwo\nthree\n")

    assert box.data("read", "a.txt", offset=2, limit=1) == {
        "type": "text",
        "text": "two",
        "start": 2,
        "lines": 1,
        "total_lines": 3,
        "total_bytes": 14,
        "next_offset": 3,
        "cut_lines": [],
    }


def test_empty_file_is_reported(box: BoxedFiles) -> None:
    """Nothing is said to be nothing."""
    box.put("a.txt", "")

    assert box.data("read", "a.txt") == {"type": "empty"}


def test_directory_is_refused_with_the_way_to_list_it(box: BoxedFiles) -> None:
    """The next step is named."""
    code, message = box.refusal("read", ".")

    assert code == "not_regular"
    assert "ls" in message


@pytest.mark.parametrize("offset", [3, 1000])
def test_offset_past_the_end_names_the_line_count(box: BoxedFiles, offset: int) -> None:
    """The model learns what is there."""
    box.put("a.txt", "one\ntwo\n")

    code, message = box.refusal("read", "a.txt", offset=offset)

    assert code == "invalid"
    assert f"offset {offset}" in message
    assert "2 lines" in message


def test_nul_in_the_first_bytes_is_binary(box: BoxedFiles) -> None:
    """Size instead of bytes."""
    box.put("a.bin", b"text then\0more")

    assert box.data("read", "a.bin") == {"type": "binary", "bytes": 14}


def test_nul_far_into_the_window_is_binary(box: BoxedFiles) -> None:
    """Raw bytes never get out, wherever they are."""
    box.put("a.bin", b"line\n" * 1900 + b"\0\n" + b"line\n" * 10)

    assert box.data("read", "a.bin", offset=1899)["type"] == "binary"


def test_random_bytes_are_binary_and_latin_1_is_text(box: BoxedFiles) -> None:
    """Mostly undecodable is binary; a few odd bytes are not."""
    box.put("a.bin", bytes(range(128, 256)) * 10)
    box.put("b.txt", "caf\xe9 au lait, s'il vous plait".encode("latin-1"))

    assert box.data("read", "a.bin")["type"] == "binary"
    assert box.data("read", "b.txt")["text"].startswith("caf\ufffd au")


def test_pipe_is_refused_without_waiting(box: BoxedFiles) -> None:
    """A pipe without a writer would block an ordinary open."""
    os.mkfifo(box.workdir / "pipe")

    assert box.refusal("read", "pipe") == (
        "not_regular",
        "pipe is a named pipe, not a regular file",
    )


def test_socket_is_refused(box: BoxedFiles) -> None:
    """So is everything else that is no file."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(box.workdir / "s"))

        assert box.refusal("read", "s")[0] == "not_regular"


def test_growing_file_is_read_to_the_size_it_had(box: BoxedFiles) -> None:
    """The total is that of one moment."""
    path = box.put("log", "one\n")
    with path.open("ab") as log:
        log.write(b"two\n")

    assert box.data("read", "log")["total_lines"] == 2


def test_window_is_within_the_byte_limit(box: BoxedFiles) -> None:
    """50 KB, counted as sent."""
    box.put("a.txt", ("x" * 99 + "\n") * 5000)

    data = box.data("read", "a.txt")

    assert len(data["text"].encode()) <= 50_000
    assert data["next_offset"] == data["lines"] + 1 == 501
    assert data["total_lines"] == 5000
