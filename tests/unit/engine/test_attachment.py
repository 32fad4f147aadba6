import socket

import pytest

from orchestrator.engine.attachment import plain_socket
from orchestrator.errors import EngineError

# TLS and SSH streams are attached in test_tunnels.py.


@pytest.fixture
def ends():
    ours, engine = socket.socketpair()
    engine.settimeout(5)
    attachment = plain_socket(ours)
    with engine:
        yield attachment, engine
        attachment.close()


def test_plain_socket_is_used_as_it_is(ends):
    """Nothing stands between, and nothing blocks."""
    attachment, engine = ends
    attachment.socket.send(b"to the box")

    assert engine.recv(100) == b"to the box"
    assert attachment.socket.getblocking() is False


def test_closing_is_seen_by_the_engine_at_once(ends):
    """The box's lifeline ends with it; a second time is no error."""
    attachment, engine = ends
    attachment.close()
    attachment.close()

    assert engine.recv(10) == b""


def test_detached_stream_goes_on(ends):
    """Another process is handed it; the engine sees nothing of that."""
    attachment, engine = ends
    assert attachment.direct
    with attachment.detach() as passed:
        attachment.close()
        passed.send(b"still here")

        assert engine.recv(100) == b"still here"
        assert passed.get_inheritable() is False
    assert engine.recv(10) == b""


def test_what_the_socket_hangs_on_is_closed_too():
    """The SDK keeps the connection in a response of its own."""
    ours, other = socket.socketpair()
    wrapper = ours.makefile("rwb", buffering=0)
    attachment = plain_socket(wrapper.raw if hasattr(wrapper, "raw") else wrapper)
    attachment.close()
    other.settimeout(5)

    assert other.recv(10) == b""
    assert wrapper.closed
    other.close()


def test_unknown_stream_is_an_engine_error():
    """Better no box than one whose lifeline may not hold."""
    with pytest.raises(EngineError, match="object"):
        plain_socket(object())
