"""The console script: answers ``--version`` at once, and hands everything else to ``app``."""

from __future__ import annotations

import sys

from orchestrator import __version__


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"glovebox {__version__}\n")
        return
    from orchestrator.cli.app import run_app  # noqa: PLC0415 - typer costs more than a version

    sys.exit(run_app(sys.argv[1:]))


if __name__ == "__main__":
    main()
