import socket

import name_addresses
from loop import Loop
from name_addresses import MOST_LISTENERS, NameAddresses
from side_loop import SideLoop


def free_port(address="127.0.0.1"):
    with socket.create_server((address, 0)) as server:
        return server.getsockname()[1]


def turn(loop):
    loop._stopped = False
    loop.after(0.01, loop.stop)
    loop.run()


def names(loop, *ports):
    arrived = []

    def on_arrival(arrival, name, port):
        arrival.connection.close()
        arrived.append((name, port))

    return NameAddresses(SideLoop(loop), ports, on_arrival), arrived


def test_connection_arrives_by_its_name_and_port():
    """Each name has an address of its own, and keeps it."""
    loop = Loop()
    ports = free_port(), free_port()
    table, arrived = names(loop, *ports)
    first, second = table.address("a.example"), table.address("b.example")
    assert (first, second) == ("127.64.0.1", "127.64.0.2")
    assert table.address("a.example") == first
    for end in ((first, ports[1]), (second, ports[0])):
        socket.create_connection(end).close()
        turn(loop)
    table.close()

    assert arrived == [("a.example", ports[1]), ("b.example", ports[0])]


def test_port_of_a_program_s_own_is_left_to_it():
    """One that has it on every address; where none is left there is no address."""
    loop = Loop()
    with socket.create_server(("0.0.0.0", 0)) as server:
        taken, free = server.getsockname()[1], free_port()
        table, _ = names(loop, taken, free)
        assert table.address("a.example") == "127.64.0.1"
        table.close()
        table, _ = names(loop, taken)
        assert table.address("a.example") is None


def test_names_are_bounded():
    """The one that was asked for longest ago goes, and its listeners with it."""
    loop = Loop()
    ports = [free_port() for _ in range(16)]
    table, _ = names(loop, *ports)
    most = MOST_LISTENERS // len(ports)
    for number in range(most):
        table.address(f"n{number}.example")
    table.address("n0.example")
    table.address("one.more")
    kept, dropped = ("127.64.0.1", ports[0]), ("127.64.0.2", ports[0])
    socket.create_connection(kept).close()
    with socket.socket() as tcp:
        assert tcp.connect_ex(dropped) != 0
    assert table.address("n1.example") == socket.inet_ntoa(
        (name_addresses.FIRST + most + 1).to_bytes(4, "big")
    )
    table.close()
