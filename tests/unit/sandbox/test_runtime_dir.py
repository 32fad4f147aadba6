import os
import socket
import stat
import tempfile
from pathlib import Path

import pytest

from orchestrator.engine.labels import owner_label
from orchestrator.errors import BoxError
from orchestrator.sandbox.runtime_dir import SocketDirectory, listen_at, runtime_root, sweep


@pytest.fixture
def root():
    """Short, as socket paths must be."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        yield Path(folder) / "run"


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_user_directory_is_preferred():
    """It is private and cleaned up by the system."""
    assert runtime_root({"XDG_RUNTIME_DIR": "/run/user/7"}, 7) == Path("/run/user/7/glovebox")


@pytest.mark.parametrize(
    "given", [{}, {"XDG_RUNTIME_DIR": "rel"}, {"XDG_RUNTIME_DIR": "/" + "x" * 90}]
)
def test_odd_user_directory_is_not_used(given):
    """Relative or long ones would fail later."""
    assert runtime_root(given, 7) == Path("/tmp/glovebox-7")


def test_only_this_user_gets_to_the_socket(root):
    """The top is private; the leaf, which the box sees, lets a powerless root pass through."""
    directory = SocketDirectory(root)
    try:
        assert mode(root) == mode(directory.leaf.parent) == 0o700
        assert mode(directory.leaf) == 0o711
        assert mode(directory.leaf / "glove") == 0o666
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(directory.leaf / "glove"))
    finally:
        directory.close()


def test_box_can_read_its_names(root):
    """Whatever this process's umask is, and though nobody else on the host gets there."""
    before = os.umask(0o077)
    try:
        directory = SocketDirectory(root)
    finally:
        os.umask(before)
    try:
        assert {path.name for path in directory.names.glob("*[sf]")} >= {"hosts", "resolv.conf"}
        assert mode(directory.names / "hosts") == mode(directory.names / "resolv.conf") == 0o644
        assert mode(directory.names) == 0o700
    finally:
        directory.close()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET])
def test_listener_has_its_mode_and_does_not_block(root, kind):
    """Whatever this process's umask is."""
    root.mkdir()
    with listen_at(root / "x", mode=0o600, backlog=1, kind=kind) as listener:
        assert mode(root / "x") == 0o600
        assert not listener.getblocking()
        with socket.socket(socket.AF_UNIX, kind) as caller:
            caller.connect(str(root / "x"))


def test_path_that_no_socket_can_have_is_refused(root):
    """With the next step, before anything is made."""
    root.mkdir()
    with pytest.raises(BoxError, match="may have 107 bytes") as caught:
        listen_at(root / ("x" * 100), mode=0o600, backlog=1)

    assert "XDG_RUNTIME_DIR" in caught.value.hint
    assert list(root.iterdir()) == []


def test_nothing_is_left(root):
    """After ``close`` only the root is there."""
    directory = SocketDirectory(root)
    directory.close()

    assert list(root.iterdir()) == []


@pytest.mark.parametrize("bits", [0o777, 0o750, 0o701])
def test_directory_that_others_can_enter_is_refused(root, bits):
    """Another user might have made it to listen in."""
    root.mkdir()
    root.chmod(bits)

    with pytest.raises(BoxError, match="mode 0700"):
        SocketDirectory(root)


def test_link_in_its_place_is_refused(root):
    """Nor is a link followed to where somebody wants us."""
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    root.symlink_to(elsewhere)

    with pytest.raises(BoxError, match="mode 0700"):
        SocketDirectory(root)


def test_long_path_is_an_error_that_says_so(root):
    """The kernel's own message would be about an invalid argument."""
    with pytest.raises(BoxError, match="107 bytes"):
        SocketDirectory(root / ("x" * 100))


def test_sweep_removes_only_what_the_dead_left(root):
    """A living harness keeps its directory."""
    kept = SocketDirectory(root)
    gone = root / "gone"
    gone.mkdir()
    (gone / "owner").write_text(f"{2**22 + 1}:1:" + owner_label().split(":", 2)[2])

    sweep(root)

    assert not gone.exists()
    assert kept.leaf.exists()
    kept.close()


def test_sweep_of_nothing_is_no_error(root):
    """The first session of a machine."""
    sweep(root)

    assert os.path.lexists(root) is False


def test_other_sockets_are_left_alone(root):
    """A pool listens in the same place; a file is no dead process's directory."""
    root.mkdir()
    (root / "pool.sock").touch()
    (root / "odd").mkdir()

    sweep(root)

    assert sorted(path.name for path in root.iterdir()) == ["odd", "pool.sock"]
