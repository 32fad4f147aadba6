"""The file that a run's answer is written to as well: refused before the run rather than after it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from orchestrator.errors import UsageError

ANSWER_FLAG = "--output-last-message"


def check_answer_file(path: Path, *, schema: Path | None) -> None:
    """Raise UsageError for the file of the schema, by whatever name, and for one that cannot be written.

    Nothing is left by it.
    """
    if schema is not None and _are_one(path, schema):
        raise UsageError(
            f"{ANSWER_FLAG} {path}: expected another file than that of --output-schema: the answer "
            "would take its place",
            hint="name a file for the answer alone",
        )
    try:
        _open_once(path)
    except OSError as error:
        # A pipe whose reader is still to come is none of the reasons.
        if error.errno != errno.ENXIO:
            raise UsageError(
                f"{ANSWER_FLAG} {path}: expected a file that can be written: {error.strerror}",
                hint="name one in a directory that exists and is yours",
            ) from error


def _are_one(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        # One of them is not there, or cannot be: whoever opens it says so.
        return False


def _open_once(path: Path) -> None:
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        os.close(os.open(path, flags))
    except FileNotFoundError:
        # Permission bits do not tell: root has all of them, also where no file can be made.
        made = path.resolve()
        os.close(os.open(made, flags | os.O_CREAT | os.O_EXCL, 0o600))
        made.unlink()
