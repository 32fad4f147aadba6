"""A session's file, open to be read whole: a regular file, and of a size that memory takes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from orchestrator.named_file import opened_regular

MAX_BYTES = 2 * 1024**3
"""Of a session's file: about a hundred times the longest that is known, and less than most memories."""


@contextmanager
def opened_session(path: Path) -> Iterator[BinaryIO]:
    """Give the file; OSError with words for a link, what is no regular file, and one too large."""
    with opened_regular(path) as file:
        require_readable(os.fstat(file.fileno()).st_size, path)
        yield file


def require_readable(size: int, path: Path) -> None:
    """Raise OSError for more bytes than are read of a session."""
    if size > MAX_BYTES:
        words = f"expected at most {MAX_BYTES} bytes, got {size}"
        raise OSError(errno.EFBIG, words, str(path))
