"""Runs the command line and dies by SIGKILL before or after one of its writes to session or audit.

``python -m tests.support.killed_writing STEP ARGUMENT…``. Steps count from 1: each write and each
fsync of ``orchestrator/sessions`` and ``orchestrator/audit`` is two, one before and one after it; what
a tool does falls between them. The interpreter reports the calls, so nothing of the program is
replaced. A run that ends before that step says on its last line of stderr how many there were.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

PLACES = ("/orchestrator/sessions/", "/orchestrator/audit/")
CALLS = (os.write, os.pwrite, os.fsync)
SAID = "steps of this run: "


class Death:
    """Comes at a step."""

    def __init__(self, step: int) -> None:
        """Count from here; step 0 never comes."""
        self.count = 0
        self._step = step
        self._lock = threading.Lock()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take note of what the interpreter does."""
        if event not in {"c_call", "c_return"} or argument not in CALLS:
            return
        if not any(place in frame.f_code.co_filename for place in PLACES):
            return
        with self._lock:
            self.count += 1
            if self.count == self._step:
                os.kill(os.getpid(), signal.SIGKILL)


def main(step: int, arguments: list[str]) -> int:
    """Run, and die at a step."""
    from orchestrator.cli.app import run_app  # noqa: PLC0415 - before the count: imports write

    death = Death(step)
    threading.setprofile(death)
    sys.setprofile(death)
    code = run_app(arguments)
    sys.setprofile(None)
    sys.stderr.write(f"{SAID}{death.count}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
