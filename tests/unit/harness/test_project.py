"""Which directories an agent may be put to work on."""

from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.project import check_project

HOME, STATE = Path("/home/u"), Path("/home/u/.local/state/glovebox")


@pytest.mark.parametrize(
    "directory",
    [
        "/",
        "/home",
        "/home/u",
        "/etc",
        "/etc/nginx",
        "/usr/lib",
        "/tmp",
        "/proc/1",
        "/var/lib/docker/volumes",
        "/home/u/nu\udcff",
        str(STATE),
        str(STATE / "work/x"),
        "/home/u/.local",
    ],
)
def test_machine_home_and_state_are_refused(directory):
    """A whole home or system is never copied into a box, nor is the record of sessions."""
    with pytest.raises(UsageError, match="--cd"):
        check_project(Path(directory), home=HOME, state=STATE)


@pytest.mark.parametrize("directory", ["/home/u/src/app", "/srv/app", "/tmp/x", "/home/u2/app"])
def test_project_is_accepted(directory):
    """Anything of its own."""
    check_project(Path(directory), home=HOME, state=STATE)
