"""Files that users name: what is no file is refused, and nothing waits for it."""

import os
import socket
from pathlib import Path

import pytest

from orchestrator.named_file import is_regular, opened_regular, read_named, real_path


def test_regular_file_is_read_up_to_one_byte_past_the_limit(tmp_path):
    """So the caller sees that it is too large without reading it whole."""
    file = tmp_path / "a"
    file.write_bytes(b"x" * 10)

    assert read_named(file, limit=10) == b"x" * 10
    assert read_named(file, limit=4) == b"x" * 5
    (tmp_path / "link").symlink_to(file)
    assert read_named(tmp_path / "link", limit=10) == b"x" * 10


def test_what_is_no_file_is_refused_at_once(tmp_path):
    """Each is called by its kind; nobody writes into the pipe, and nothing waits."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name, kind in (("pipe", "a named pipe"), ("link", "a named pipe"), (".", "a directory")):
        with pytest.raises(OSError, match=f"expected a regular file, got {kind}"):
            read_named(tmp_path / name, limit=10)
    with pytest.raises(OSError, match="expected a regular file, got a device"):
        read_named(Path("/dev/zero"), limit=10)


def test_other_failures_are_oserrors_too(tmp_path):
    """A circle of links, a socket, a name that no file can have."""
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tmp_path / "socket"))
    for name in ("circle", "socket", "none", "a\0b"):
        with pytest.raises(OSError) as told:  # noqa: PT011 - the words are the system's
            read_named(tmp_path / name, limit=10)
        assert told.value.strerror
    assert real_path(tmp_path / "circle").name == "circle"


def test_null_device_is_an_empty_file():
    """A link to it is how some switch a file off."""
    assert read_named(Path("/dev/null"), limit=10) == b""


def test_what_the_caller_opened_is_read_to_its_end():
    """``<(command)`` is a pipe that the shell made, and its writer may be slower than we are."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"version: 1\n")
        os.close(writing)
        assert read_named(Path(f"/dev/fd/{reading}"), limit=100) == b"version: 1\n"
    finally:
        os.close(reading)


def test_name_that_no_file_can_have_names_none(tmp_path):
    """Too long, with a NUL, in a circle: no error, only no."""
    (tmp_path / "circle").symlink_to("circle")

    assert is_regular(Path(__file__))
    assert not any(is_regular(tmp_path / name) for name in ("a" * 5000, "a\0b", "circle", "."))


def test_file_that_a_program_keeps_is_opened_and_nothing_else_is(tmp_path):
    """No link is followed, and nothing waits for a pipe's other end."""
    (tmp_path / "kept").write_bytes(b"x")
    with opened_regular(tmp_path / "kept") as file:
        assert file.read() == b"x"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "dangling").symlink_to("nowhere")
    kinds = {
        "pipe": "got a named pipe",
        "link": "got a symbolic link",
        "dangling": "got a symbolic link",
        ".": "got a directory",
    }
    for name, kind in kinds.items():
        with pytest.raises(OSError, match=kind), opened_regular(tmp_path / name):
            pass
    with pytest.raises(OSError, match="got a device"), opened_regular(Path("/dev/zero")):
        pass
