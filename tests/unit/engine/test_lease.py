"""A hold lives as long as one of its holders, whoever they are."""

import os
import socket
import subprocess
import sys

import pytest

from orchestrator.engine.labels import is_alive, is_locked, lease_label
from orchestrator.engine.lease import Lease


@pytest.fixture
def lease(tmp_path):
    held = Lease.take(tmp_path / "lease: of a session")
    yield held
    held.close()


def test_held_lease_is_alive(lease):
    """For everybody who looks, as often as they look."""
    assert is_alive(lease.label)
    assert is_alive(lease.label)


def test_closed_lease_is_dead(lease):
    """What it stood for may be removed; a second close is no error."""
    lease.close()
    lease.close()

    assert not is_alive(lease.label)


def test_lease_is_held_once(lease):
    """Nobody takes what another holds."""
    with pytest.raises(BlockingIOError):
        Lease.take(lease.path)


def test_lease_that_was_passed_on_outlives_its_first_holder(lease):
    """The second holder's end is the end."""
    here, there = socket.socketpair()
    with here, there:
        socket.send_fds(here, [b"x"], [lease.fileno()])
        _, [passed], _, _ = socket.recv_fds(there, 1, 1)
    lease.close()
    assert is_alive(lease.label)

    os.close(passed)

    assert not is_alive(lease.label)


def test_holder_that_is_killed_lets_go(tmp_path):
    """The kernel gives the lock up, whatever the process was at."""
    path = tmp_path / "lease"
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from orchestrator.engine.lease import Lease\n"
        "lease = Lease.take(Path(sys.argv[1]))\nprint('held', flush=True)\ntime.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"held\n"
    assert is_alive(lease_label(path))

    child.kill()
    child.communicate()

    assert not is_alive(lease_label(path))


def test_missing_file_is_nobodys(tmp_path):
    """Whoever removed it had no more use for what it stood for."""
    assert not is_locked(tmp_path / "none")
    assert not is_alive(lease_label(tmp_path / "none"))


def test_pipe_in_its_place_is_not_waited_for(tmp_path):
    """Nobody writes into it, and nobody has locked it."""
    os.mkfifo(tmp_path / "pipe")

    assert not is_locked(tmp_path / "pipe")


def test_lease_of_another_mount_namespace_is_left_alone(tmp_path):
    """There its path may be a file that is not seen here."""
    label = lease_label(tmp_path / "none")
    start, boot, namespace, path = label.split(":", 3)

    assert is_alive(f"{start}:{boot}:1{namespace}:{path}")


def test_lease_of_an_earlier_boot_is_dead_where_only_we_use_the_engine(lease):
    """As a process is."""
    start, _, rest = lease.label.split(":", 2)
    label = f"{start}:11111111-2222-3333-4444-555555555555:{rest}"

    assert not is_alive(label)
    assert is_alive(label, same_machine=False)


@pytest.mark.parametrize("label", ["lease:", "lease:a:b", "lease:a:b:relative"])
def test_label_of_another_form_belongs_to_nobody(label):
    """Only our own form names a lease."""
    assert not is_alive(label)


def test_lease_is_not_taken_on_a_file_that_was_removed(tmp_path):
    """Its last holder removed the file before it let go: two would hold the same name."""
    path = tmp_path / "lease"
    first = Lease.take(path)
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from orchestrator.engine.lease import Lease\n"
        "while True:\n"
        "    try:\n        lease = Lease.take(Path(sys.argv[1]))\n        break\n"
        "    except BlockingIOError:\n        pass\n"
        "print('held', flush=True)\ntime.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    try:
        path.unlink()
        first.close()
        assert child.stdout.readline() == b"held\n"

        with pytest.raises(BlockingIOError):
            Lease.take(path)
    finally:
        child.kill()
        child.communicate()
