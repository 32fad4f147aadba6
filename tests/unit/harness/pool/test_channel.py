"""The pool's door: one question, one answer, and descriptors that arrive whole or not at all."""

import json
import os
import socket
import threading
from contextlib import closing, contextmanager

import anyio
import pytest

from orchestrator.engine.lease import Lease
from orchestrator.errors import BoxError
from orchestrator.harness.pool.channel import (
    RemotePool,
    answer,
    ask,
    is_ours,
    listen,
    pool_directory,
    socket_path,
)

KEY = "sha256:a"


@pytest.fixture
def door(short_directory):
    return short_directory / "p.sock"


@contextmanager
def answering(door, reply):
    """A pool that gives one answer to the first who asks."""
    asked = []
    listener = listen(door)
    listener.setblocking(True)

    def work():
        peer, _ = listener.accept()
        with peer:
            asked.append(json.loads(peer.recv(4096)))
            reply(peer)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield asked
    finally:
        thread.join(10)
        listener.close()


def test_offer_arrives_whole(door, offer):
    """The connections work, and the lease is held, after the first holder let go."""
    with answering(door, lambda peer: answer(peer, offer)) as asked:
        got = anyio.run(RemotePool(door).take, KEY)
    offer.close()

    assert asked == [{"do": "take", "key": KEY}]
    with closing(got):
        assert (got.session, got.posture) == (offer.session, offer.posture)
        assert (got.handed.container, got.handed.held.latest) == ("c0ffee", 7)
        assert got.handed.facts == {"image_digest": "sha256:1"}
        got.handed.held.lifeline.send(b"x")
        assert got.handed.held.calls.recv(1) == b"x"
        assert got.handed.held.calls.getblocking() is False
        assert not got.handed.held.calls.get_inheritable()
        with pytest.raises(BlockingIOError):
            Lease.take(offer.lease.path)


def test_refusal_is_a_reason(door):
    """Which the session tells, and starts cold."""
    with answering(door, lambda peer: answer(peer, {"none": "not ready"})):
        assert anyio.run(RemotePool(door).take, KEY) == "not ready"


@pytest.mark.parametrize("words", [b"", b"[]", b"{", b'{"other": 1}', b"\xff"])
def test_odd_answer_is_a_refusal(door, words):
    """Whatever a pool of another version says."""
    with answering(door, lambda peer: words and peer.send(words)):
        assert "the pool" in anyio.run(RemotePool(door).take, KEY)


def test_no_pool_is_a_refusal(door):
    """Neither a missing socket nor one that nobody listens on."""
    assert anyio.run(RemotePool(door).take, KEY) == "no pool runs"
    listen(door).close()
    assert anyio.run(RemotePool(door).take, KEY) == "no pool runs"
    assert ask(door, {"do": "status"}) is None


def test_silent_pool_is_a_refusal(door):
    """A session does not wait for one that hangs."""
    with closing(listen(door)):
        assert "does not answer" in anyio.run(RemotePool(door).take, KEY)


def test_door_is_private(door, short_directory):
    """Nobody else may even knock."""
    with closing(listen(door)):
        assert door.stat().st_mode & 0o777 == 0o600
    directory = pool_directory({"XDG_RUNTIME_DIR": str(short_directory)})
    assert directory.stat().st_mode & 0o777 == 0o700
    assert socket_path(directory, "abc").parent == directory


def test_directory_that_others_may_enter_is_refused(short_directory):
    """Somebody made it before us."""
    directory = pool_directory({"XDG_RUNTIME_DIR": str(short_directory)})
    directory.chmod(0o755)
    try:
        with pytest.raises(BoxError, match="0700"):
            pool_directory({"XDG_RUNTIME_DIR": str(short_directory)})
    finally:
        directory.chmod(0o700)


def test_same_user_is_ours():
    """The kernel says who is at the other end."""
    one, other = socket.socketpair()
    with one, other:
        assert is_ours(one)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user for a moment")
def test_other_user_is_not_ours():
    """Root itself is not the pool's user."""
    os.seteuid(65534)
    try:
        one, other = socket.socketpair()
    finally:
        os.seteuid(0)
    with one, other:
        assert not is_ours(one)
