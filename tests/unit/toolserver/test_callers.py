import os
import socket
import subprocess
import sys
import time

import pytest
from callers import MOST_ARGUMENT, MOST_ARGUMENTS, Callers

from tests.unit.toolserver.test_tcp_stream import own_config

CONNECT = """
import socket, sys, time
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
host = "::ffff:127.0.0.1" if sys.argv[1] == "6" else "127.0.0.1"
if sys.argv[1] == "udp":
    tcp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    tcp.sendto(b"x", (host, int(sys.argv[2])))
else:
    tcp = socket.socket(family, socket.SOCK_STREAM)
    tcp.connect((host, int(sys.argv[2])))
time.sleep(60)
"""


def started(kind, port, *more):
    return subprocess.Popen([sys.executable, "-c", CONNECT, kind, str(port), *more])


@pytest.mark.parametrize("kind", ["4", "6"])
def test_program_is_found_by_its_connection(kind):
    """Whichever family its socket is of; arguments that go on are cut."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = started(kind, server.getsockname()[1], "x" * 2000, *["y"] * 100)
        server.settimeout(10)
        connection, peer = server.accept()
    with connection:
        found = Callers(own_config()).find(connection.getsockname(), peer)
    program.kill()
    program.wait()

    assert found["pid"] == program.pid
    assert found["program"] == os.path.realpath(sys.executable)
    assert found["argv"][3] == kind
    assert len(found["argv"]) == MOST_ARGUMENTS
    assert max(map(len, found["argv"])) == MOST_ARGUMENT


def test_datagram_s_sender_is_found():
    """Though its socket is bound to no address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        program = started("udp", server.getsockname()[1])
        _, peer = server.recvfrom(10)
        found = Callers(own_config()).find(server.getsockname(), peer, "udp")
    program.kill()
    program.wait()

    assert found["pid"] == program.pid


def test_program_that_is_gone_is_not_told():
    """It is a hint for people, no more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = socket.create_connection(server.getsockname())
        connection, peer = server.accept()
        program.close()
        with connection:
            time.sleep(0.01)
            assert Callers(own_config()).find(connection.getsockname(), peer) is None


def test_kernel_that_shows_nothing_is_no_failure(tmp_path):
    """As under another runtime."""
    ends = ("127.0.0.1", 1), ("127.0.0.1", 2)

    assert Callers(own_config(), str(tmp_path)).find(*ends) is None
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text("a b c d e f g h i j\n" * 3)
    assert Callers(own_config(), str(tmp_path)).find(*ends) is None
