"""What a session offers from its start: ports that were asked for by flag."""

import socket

import anyio
import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.joining import previewed
from orchestrator.harness.preview import PreviewSpec
from tests.support.joining import join


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def test_port_is_served_recorded_and_closed(tmp_path, front):
    """For as long as the session lasts; the person is told where, and what not to trust."""
    port = free_port()

    async def scene(session):
        async with (
            previewed([PreviewSpec(80, host_port=port)], session.access, front),
            await anyio.connect_tcp("127.0.0.1", port) as client,
        ):
            assert await client.receive() == b"page"
        [start], [end] = session.records("preview_start"), session.records("preview_end")

        assert (start["port"], start["listen"]) == (80, f"127.0.0.1:{port}")
        assert (start["who"]["via"], end["connections"]) == ("run", 1)
        with pytest.raises(OSError, match="attempts failed"):
            await anyio.connect_tcp("127.0.0.1", port)

    join(tmp_path, scene, ports={80: b"page"})

    assert front.notes[0] == f"port 80 of the box: http://127.0.0.1:{port}/"
    assert "comes from the box" in front.notes[1]


def test_port_that_is_taken_ends_the_start(tmp_path, front):
    """A preview that was asked for is not left out in silence."""

    async def scene(session):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            spec = PreviewSpec(taken.getsockname()[1])
            with pytest.raises(BaseExceptionGroup) as caught:
                async with previewed([spec], session.access, front):
                    pass
        assert caught.group_contains(UsageError)

    join(tmp_path, scene)


def test_nothing_asked_for_is_nothing_done(tmp_path, front):
    """No port without its flag."""

    async def scene(session):
        async with previewed([], session.access, front):
            assert session.records("preview_start") == []

    join(tmp_path, scene)

    assert front.notes == []
