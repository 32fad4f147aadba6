"""The console script: answers ``--version`` at once, and hands everything else to ``app``."""

from __future__ import annotations

import io
import os
import sys

from orchestrator import __version__


def main() -> None:
    """Run the command line and exit."""
    _prepare_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"glovebox {__version__}\n")
        return
    from orchestrator.cli.app import (  # noqa: PLC0415 - typer costs more than a version
        report_bug,
        run_app,
    )

    code = run_app(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        if not code:
            # Whoever reads a pipe to its middle knows; a full disk has to be told.
            code = 1 if isinstance(error, BrokenPipeError) else report_bug(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _prepare_streams() -> None:
    """Have the three streams there, and able to take any text.

    One that the caller closed would give its number to the next file that is opened, and a locale
    without a letter would end a command in the middle of a list.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(null)
        sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
        sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
        sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding != "utf-8":
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
