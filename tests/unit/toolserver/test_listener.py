import socket

import pytest
from listener import Listener
from loop import Loop
from side_loop import SideLoop


def turn(loop):
    loop._stopped = False
    loop.after(0.01, loop.stop)
    loop.run()


def test_connections_are_given_on_until_it_is_closed():
    """What comes while the loop is paused waits."""
    loop, arrived = Loop(), []
    side = SideLoop(loop)
    listener = Listener(side, ("127.0.0.1", 0), arrived.append)
    end = listener._socket.getsockname()
    side.pause()
    with socket.create_connection(end):
        turn(loop)
        assert arrived == []
        side.go_on()
        turn(loop)
    assert len(arrived) == 1
    [(connection, here, there)] = arrived
    assert (here, there) == (("127.0.0.1", 0), connection.getpeername())
    connection.close()
    listener.close()
    listener.close()
    with socket.socket() as tcp:
        assert tcp.connect_ex(end) != 0


def test_port_that_is_taken_is_named():
    """A person must know what to look for."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port}"):
            Listener(SideLoop(Loop()), ("127.0.0.1", port), print)


def test_connection_that_breaks_at_once_is_dropped():
    """Whatever fails with it, the next one is served."""
    loop, arrived = Loop(), []

    def on_arrival(arrival):
        arrived.append(arrival)
        raise OSError("broken already")

    listener = Listener(SideLoop(loop), ("127.0.0.1", 0), on_arrival)
    for _ in range(2):
        with socket.create_connection(listener._socket.getsockname()):
            turn(loop)
    listener.close()

    assert [arrival.connection.fileno() for arrival in arrived] == [-1, -1]
