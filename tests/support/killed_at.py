"""Runs the command line and dies by SIGKILL at one of its effects on files, counted from 1.

``python -m tests.support.killed_at STEP ARGUMENT…``. The interpreter itself reports the effects, so
nothing of the program is replaced. Exit code 0 where the program ended before that step.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

EFFECTS = {
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.setxattr",
    "os.symlink",
    "os.utime",
}
"""What the interpreter names; a file opened for writing counts too."""


def main(step: int, arguments: list[str]) -> int:
    """Run, and die at a step."""
    from orchestrator.cli.app import run_app  # noqa: PLC0415 - before the hook: imports write

    state = os.environ["GLOVEBOX_STATE"]
    count = 0

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal count
        if event == "open":
            path, _, flags = args
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if not writes or (isinstance(path, str) and not _within(path, state)):
                return
        elif event not in EFFECTS:
            return
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return run_app(arguments)


def _within(path: str, state: str) -> bool:
    """A name alone is opened beneath a directory of the session."""
    return not path.startswith("/") or Path(path).is_relative_to(state)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
