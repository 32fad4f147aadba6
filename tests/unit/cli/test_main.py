"""The console script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import __version__
from tests.support.world import GLOVEBOX


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


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["audit", "verify"], 2, "a run makes one"),
        (["doctor", "--json"], 5, "engine"),
        (["image", "list"], 5, "no container engine answers"),
        (["keys", "list"], 0, "no key"),
        (["policy", "lint", "none.yaml"], 7, "none.yaml"),
        (["sessions", "list"], 0, "no session"),
    ],
)
def test_installed_script_starts_cold(arguments, code, said, tmp_path):
    """Other tests run these from a warm process (``tests/support/warm.py``)."""
    done = subprocess.run(
        [GLOVEBOX, *arguments],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "DOCKER_HOST": f"unix://{tmp_path}/none.sock",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_text_that_a_locale_lacks_is_shown_by_its_number():
    """A list does not end in its middle."""
    code = "from orchestrator.cli.main import _prepare_streams\n_prepare_streams()\nprint('h\\u00e9llo \\u65e5')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": "ascii"},
    )

    assert (done.stdout, done.stderr) == ("h\\xe9llo \\u65e5\n", "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed_are_no_failure(tmp_path, closed):
    """And no file that is opened takes their place."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m orchestrator.cli.main sessions list {closed}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GLOVEBOX_STATE": str(tmp_path)},
    )

    assert done.returncode == 0
    assert "error" not in done.stderr


def test_full_disk_beneath_stdout_is_told_in_words(tmp_path):
    """It is no bug."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [GLOVEBOX, "skills", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )

    assert done.returncode == 1
    assert "cannot be written: No space left on device" in done.stderr
