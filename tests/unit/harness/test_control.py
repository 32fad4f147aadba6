"""The control socket: who may call, what is there after a session and after a crash."""

import os
import socket
import stat

import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.harness.control import control_socket, is_listening, sweep
from tests.support.joining import SESSION, join


def test_socket_is_the_users_alone_and_goes_with_the_session(tmp_path):
    """Mode 0600 in directories of mode 0700."""
    seen = []

    async def scene(joined):
        seen.append(joined.path)
        assert stat.S_IMODE(joined.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(joined.path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(joined.path.parent.parent.stat().st_mode) == 0o700
        assert is_listening(joined.path)

    join(tmp_path, scene)

    assert not seen[0].exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_turned_away_by_the_kernels_word(tmp_path):
    """Even one who got at the socket."""

    async def scene(joined):
        for folder in (*joined.path.parents[:3], joined.path):
            folder.chmod(0o777)
        found = []

        def call():
            pid = os.fork()
            if pid == 0:
                try:
                    os.setresuid(4242, 4242, 4242)
                    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    sock.settimeout(5)
                    sock.connect(str(joined.path))
                    os._exit(10 if sock.recv(1) == b"" else 11)
                finally:
                    os._exit(12)
            found.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

        await anyio.to_thread.run_sync(call)
        assert found == [10]

    join(tmp_path, scene)


def test_sweep_takes_what_nobody_listens_on(tmp_path):
    """A killed session leaves its socket; a living one's stays."""
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead"))
    dead.close()
    live = socket.socket(socket.AF_UNIX)
    live.bind(str(tmp_path / "live"))
    live.listen(1)
    sweep(tmp_path)
    left = [path.name for path in tmp_path.iterdir()]
    live.close()

    assert left == ["live"]


def test_resumed_session_takes_its_place_again(tmp_path):
    """The name of a session that was killed is no obstacle."""

    async def scene(joined):
        left = joined.path.with_name("fedcba987654")
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(str(left))
        dead.close()
        async with control_socket("fedcba987654", joined.access, joined.environ) as path:
            assert path == left
            assert is_listening(left)

    join(tmp_path, scene)


def test_silent_and_garbled_callers_disturb_nobody(tmp_path):
    """Each ends alone."""

    async def scene(joined):
        for words in (b"", b"GET / HTTP/1.1\r\n\r\n" * 10, b"\xff" * 100):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(str(joined.path))
                sock.send(words)
        await anyio.sleep(0.1)

        assert is_listening(joined.path)
        assert joined.path.name == SESSION

    join(tmp_path, scene)


def test_socket_that_cannot_be_made_is_said_to_be(tmp_path):
    """With the way out."""

    async def scene(joined):
        joined.path.with_name("fedcba987654").mkdir()
        with pytest.raises(BoxError, match="control socket") as caught:
            async with control_socket("fedcba987654", joined.access, joined.environ):
                pass
        assert "XDG_RUNTIME_DIR" in caught.value.hint

    join(tmp_path, scene)
