import os
import socket
from pathlib import Path

from passed import Passed


def test_descriptor_comes_beside_the_bytes():
    """The bytes are whole, the connection stays open, and of several descriptors the last counts."""
    passed = Passed()
    host, box = socket.socketpair()
    before = len(list(Path("/proc/self/fd").iterdir()))
    ends = os.pipe()
    socket.send_fds(host, [b"bytes"], list(ends))
    got = passed.receive(box.fileno(), 100)
    os.close(ends[1])
    taken = passed.take()
    os.write(taken, b"through")
    assert os.read(ends[0], 10) == b"through"
    for descriptor in (ends[0], taken):
        os.close(descriptor)
    host.sendall(b"more")

    assert got == b"bytes"
    assert passed.receive(box.fileno(), 100) == b"more"
    assert passed.take() is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    host.close()
    box.close()
