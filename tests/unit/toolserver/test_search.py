from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from search import Ending, records


@contextmanager
def folder_handle(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


def test_records_come_with_their_ending(tmp_path: Path) -> None:
    """Each record is whole, and the exit code is known afterwards."""
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    ending = Ending()

    with folder_handle(tmp_path) as folder:
        found = list(
            records(
                [b"--files", b"--null"], folder=folder, source=None, separator=b"\0", ending=ending
            )
        )

    assert found == [b"a", b"b"]
    assert (ending.code, ending.timed_out) == (0, False)


def test_closing_early_ends_the_process(tmp_path: Path) -> None:
    """Nobody searches on for a reader that has left."""
    for number in range(3000):
        (tmp_path / f"{number:04}").write_text("x\n" * 200)
    ending = Ending()

    with (
        folder_handle(tmp_path) as folder,
        closing(
            records(
                [b"--json", b"--regexp=x", b"--", b"./"],
                folder=folder,
                source=None,
                separator=b"\n",
                ending=ending,
            )
        ) as found,
    ):
        next(found)

    assert ending.code < 0


def test_error_text_is_kept(tmp_path: Path) -> None:
    """What ripgrep complains of is for the model."""
    ending = Ending()

    with folder_handle(tmp_path) as folder:
        list(
            records(
                [b"--json", b"--regexp=(", b"--", b"./"],
                folder=folder,
                source=None,
                separator=b"\n",
                ending=ending,
            )
        )

    assert ending.code == 2
    assert "unclosed group" in ending.errors
