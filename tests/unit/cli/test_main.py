"""The console script."""

import subprocess
import sys

import pytest

from orchestrator import __version__


def glovebox(*arguments, then=""):
    code = f"import sys\nfrom orchestrator.cli.main import main\ntry:\n    main()\nfinally:\n    {then or 'pass'}"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_costs_no_more_than_itself(flag):
    """Scripts ask for it; the command line's library is not loaded for that."""
    done = glovebox(flag, then="sys.stderr.write(str('typer' in sys.modules))")

    assert (done.returncode, done.stdout) == (0, f"glovebox {__version__}\n")
    assert done.stderr == "False"


def test_everything_else_goes_to_the_command_line():
    """With its exit code."""
    done = glovebox("nonsense")

    assert (done.returncode, done.stdout) == (2, "")
    assert "nonsense" in done.stderr
