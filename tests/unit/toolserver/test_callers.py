import os
import socket
import subprocess
import sys
import time

import pytest
from callers import MOST_ARGUMENT, MOST_ARGUMENTS, MOST_LISTED, Callers

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

ROW = """
import socket, sys
for _ in range(5):
    tcp = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    sys.stdin.readline()
    tcp.close()
sys.stdin.readline()
"""


def started(kind, port, *more):
    return subprocess.Popen([sys.executable, "-c", CONNECT, kind, str(port), *more])


@pytest.fixture
def box(tmp_path):
    """A /proc in which only the programs that a test puts there can be seen."""
    (tmp_path / "net").symlink_to("/proc/net")

    def show(*programs):
        for program in programs:
            (tmp_path / str(program.pid)).symlink_to(f"/proc/{program.pid}")
        return Callers(own_config(), str(tmp_path))

    return show


@pytest.mark.parametrize("kind", ["4", "6"])
def test_program_is_found_by_its_connection(kind, box):
    """Whichever family its socket is of; arguments that go on are cut."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = started(kind, server.getsockname()[1], "x" * 2000, *["y"] * 100)
        server.settimeout(10)
        connection, peer = server.accept()
    with connection:
        found = box(program).find(connection.getsockname(), peer)
    program.kill()
    program.wait()

    assert found["pid"] == program.pid
    assert found["program"] == os.path.realpath(sys.executable)
    assert found["argv"][3] == kind
    assert len(found["argv"]) == MOST_ARGUMENTS
    assert max(map(len, found["argv"])) == MOST_ARGUMENT


def test_datagram_s_sender_is_found(box):
    """Though its socket is bound to no address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        program = started("udp", server.getsockname()[1])
        _, peer = server.recvfrom(10)
        found = box(program).find(server.getsockname(), peer, "udp")
    program.kill()
    program.wait()

    assert found["pid"] == program.pid


def test_program_that_is_gone_is_not_told(box):
    """It is a hint for people, no more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = socket.create_connection(server.getsockname())
        connection, peer = server.accept()
        program.close()
        with connection:
            time.sleep(0.01)
            assert box().find(connection.getsockname(), peer) is None


@pytest.mark.parametrize("kind", ["4", "6"])
def test_several_that_are_new_are_told_apart_by_the_kernel_s_table(kind, box):
    """Whatever else each has open; the table is not read again at once."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        server.settimeout(10)
        programs = [started(kind, other.getsockname()[1]) for _ in range(2)]
        programs += [started(kind, server.getsockname()[1])]
        connection, peer = server.accept()
        for _ in range(2):
            other.accept()[0].close()
        programs.append(started(kind, other.getsockname()[1]))
        other.accept()[0].close()
        callers = box(*programs)
        with connection:
            ends = connection.getsockname(), peer
            found = [callers.find(*ends), callers.find(*ends)]
        again = [started(kind, server.getsockname()[1]) for _ in range(2)]
        for _ in again:
            server.accept()[0].close()
        box(*again)
        unclear = callers.find(*ends)
    for program in programs + again:
        program.kill()
        program.wait()

    assert found[0]["pid"] == programs[2].pid
    # Nobody opened anything since.
    assert found[1] is None
    assert unclear is None


def test_row_of_connections_is_one_program_s(box):
    """The table is not needed for any but the first."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        idle = started("4", server.getsockname()[1])
        server.accept()[0].close()
        program = subprocess.Popen(
            [sys.executable, "-c", ROW, str(server.getsockname()[1])], stdin=subprocess.PIPE
        )
        callers, found = box(idle, program), []
        for _ in range(5):
            connection, peer = server.accept()
            with connection:
                found.append(callers.find(connection.getsockname(), peer))
            program.stdin.write(b"\n")
            program.stdin.flush()
    for one in (idle, program):
        one.kill()
        one.communicate()

    assert [one["pid"] for one in found] == [program.pid] * 5


MANY = """
import socket, sys
open_ = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(5)]
sys.stdin.readline()
"""


def test_connections_at_one_time_are_their_program_s(box, tmp_path):
    """All of them; the server, which holds the other end of each, is never taken for it."""
    (tmp_path / str(os.getpid())).symlink_to(f"/proc/{os.getpid()}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        port = str(server.getsockname()[1])
        program = subprocess.Popen([sys.executable, "-c", MANY, port], stdin=subprocess.PIPE)
        callers, found = box(program), []
        accepted = [server.accept() for _ in range(5)]
        for connection, peer in accepted:
            found.append(callers.find(connection.getsockname(), peer))
        program.communicate(b"\n")
        # Nor when nobody else has anything new.
        gone = callers.find(connection.getsockname(), peer)
        for connection, _ in accepted:
            connection.close()

    assert [one and one["pid"] for one in found] == [program.pid] * 5
    assert gone is None


def test_programs_that_connect_in_turn_are_told_apart(box):
    """The one that connected last is not taken for the next one too."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        ends = server.getsockname()
        rows = [
            subprocess.Popen([sys.executable, "-c", ROW, str(ends[1])], stdin=subprocess.PIPE)
            for _ in range(2)
        ]
        callers = box(*rows)
        accepted = [server.accept() for _ in rows]
        first = [callers.find(ends, peer) for _, peer in accepted]
        for program in rows:
            program.stdin.write(b"\n")
            program.stdin.flush()
        accepted += [server.accept() for _ in rows]
        # Longer than between two readings of the table.
        time.sleep(0.6)
        again = [callers.find(ends, peer) for _, peer in accepted[2:]]
        for connection, _ in accepted:
            connection.close()
    for program in rows:
        program.kill()
        program.communicate()

    both = {program.pid for program in rows}
    assert {one["pid"] for one in first} == both
    assert {one["pid"] for one in again} == both


def test_program_with_very_many_open_costs_little(box, tmp_path):
    """It is not looked through, nor is any after it."""
    folder = tmp_path / "99" / "fd"
    folder.mkdir(parents=True)
    for number in range(MOST_LISTED + 1):
        (folder / str(number)).symlink_to(f"socket:[{number}]")
    callers = box()

    assert callers.find(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert callers._sockets == {}


def test_kernel_that_shows_nothing_is_no_failure(tmp_path):
    """As under another runtime."""
    ends = ("127.0.0.1", 1), ("127.0.0.1", 2)

    assert Callers(own_config(), str(tmp_path)).find(*ends) is None
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text("a b c d e f g h i j\n" * 3)
    assert Callers(own_config(), str(tmp_path)).find(*ends) is None
