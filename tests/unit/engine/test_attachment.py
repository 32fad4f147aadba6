import socket
import threading

import pytest

from orchestrator.engine.attachment import plain_socket


class Tunnelled:
    """What an encrypted or tunnelled connection looks like: a socket that is none to select on."""

    def __init__(self, inner):
        self.inner = inner
        self.recv = inner.recv
        self.sendall = inner.sendall
        self.closed = threading.Event()

    def close(self):
        self.closed.set()
        self.inner.close()


def heard(sock, size):
    sock.settimeout(5)
    data = b""
    while len(data) < size:
        data += sock.recv(size)
    return data


@pytest.fixture(params=[False, True], ids=["plain", "tunnelled"])
def ends(request):
    ours, engine = socket.socketpair()
    stream = Tunnelled(ours) if request.param else ours
    attachment = plain_socket(stream)
    with engine:
        yield attachment, engine, stream
        attachment.close()


def test_bytes_go_both_ways(ends):
    """Whatever carries it, the attachment is one socket."""
    attachment, engine, _ = ends
    assert attachment.socket.getblocking() is False
    attachment.socket.send(b"to the box")
    engine.sendall(b"x" * 50_000)

    assert heard(engine, 10) == b"to the box"
    assert len(heard(attachment.socket, 50_000)) == 300_000


def test_closing_is_seen_by_the_engine(ends):
    """The box's lifeline ends with it, at once."""
    attachment, engine, _ = ends
    attachment.close()
    attachment.close()
    engine.settimeout(5)

    assert engine.recv(10) == b""


def test_end_of_the_container_is_seen_here(ends):
    """So that nobody waits for a box that is gone."""
    attachment, engine, _ = ends
    engine.shutdown(socket.SHUT_RDWR)
    attachment.socket.settimeout(5)

    assert attachment.socket.recv(10) == b""
