"""Running ripgrep so that nothing a model or a repository says becomes an option or a program.

The pattern is glued to its option, no configuration file is read, no preprocessor exists, links are
not followed, the environment is fixed, and the searched directory is a handle that was judged.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress

from names import shown_path
from paths import Place, Roots

RUNTIME = "/opt/glovebox/runtime"
"""The server's own programs: nothing of the image takes part in a search."""

MAX_RECORD = 8 * 1024**2
"""Bytes of one record of output; a longer one (a matching line of megabytes) is passed over."""

MAX_SECONDS = 20.0
"""Time a search may take; below the worker's own limit, so that what was found is returned."""

BUDGET = 40_000
"""Bytes of text in one result, names and escapes included."""

ALWAYS = (
    "--no-config",
    "--no-messages",
    "--no-require-git",
    "--hidden",
    "--no-follow",
    "--sort=path",
    "--glob=!.git",
)
"""Ignore files hold, dot files count, the repository's own folder does not."""


class Ending:
    """How a search ended; filled in when its records are used up."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self.code = 0
        """ripgrep's exit code: 0 found, 1 nothing, 2 an error; negative when it was stopped."""
        self.errors = ""
        self.timed_out = False
        self.oversized = 0
        """Records passed over for their size."""


def records(
    arguments: Sequence[bytes], *, folder: int, source: int | None, separator: bytes, ending: Ending
) -> Generator[bytes, None, None]:
    """Run ripgrep in ``folder`` and yield its records; closing the iterator ends the process."""
    with os.fdopen(os.memfd_create("errors"), "w+b") as errors:
        process = subprocess.Popen(
            [*_program(), *ALWAYS, *arguments],
            # The child enters the directory through the handle it inherits across the fork.
            cwd=f"/proc/self/fd/{folder}",
            env={"LC_ALL": "C"},
            stdin=subprocess.DEVNULL if source is None else source,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            yield from _split(process, separator, ending)
        finally:
            _end(process, ending)
            errors.seek(0)
            ending.errors = errors.read(2000).decode("utf-8", "replace").strip()


def _program() -> tuple[str, ...]:
    if not os.path.exists(f"{RUNTIME}/ld.so"):
        # Only outside of a box, where the server's own tests run.
        return ("/usr/bin/rg",)
    libraries = ("--inhibit-cache", "--library-path", f"{RUNTIME}/libraries")
    return (f"{RUNTIME}/ld.so", *libraries, f"{RUNTIME}/bin/rg")


def _split(process: subprocess.Popen[bytes], separator: bytes, ending: Ending) -> Iterator[bytes]:
    """Yield what stands before each separator, in bounded memory and time."""
    assert process.stdout is not None
    buffer = bytearray()
    skipping = False
    for block in _blocks(process.stdout.fileno(), ending):
        *whole, rest = block.split(separator)
        for piece in whole:
            if skipping:
                skipping = False
                ending.oversized += 1
            else:
                yield bytes(buffer) + piece
            buffer.clear()
        if not skipping:
            buffer += rest
        if len(buffer) > MAX_RECORD:
            buffer.clear()
            skipping = True


def _blocks(handle: int, ending: Ending) -> Iterator[bytes]:
    deadline = time.monotonic() + MAX_SECONDS
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            ending.timed_out = True
            return
        block = os.read(handle, 64 * 1024)
        if not block:
            return
        yield block


def _end(process: subprocess.Popen[bytes], ending: Ending) -> None:
    # It may be in mid-search: nobody reads on.
    with suppress(ProcessLookupError):
        if process.poll() is None and (ending.timed_out or not _drained(process)):
            process.kill()
    ending.code = process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _drained(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the process closed its output and so is about to exit by itself."""
    assert process.stdout is not None
    poll = select.poll()
    poll.register(process.stdout.fileno(), select.POLLIN)
    return any(event & select.POLLHUP and not event & select.POLLIN for _, event in poll.poll(0))


def open_folder(place: Place) -> int:
    """Open the landing, a directory, for searching."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(place.rest[0], flags, dir_fd=place.parent)


def shown_below(place: Place, name: bytes, roots: Roots) -> str:
    """Return a found path as a model can pass it back: from the workspace on where it lies there."""
    whole = place.path.rstrip(b"/") + b"/" + name if name else place.path
    workdir = os.fsencode(roots.workdir).rstrip(b"/") + b"/"
    return shown_path(whole.removeprefix(workdir))
