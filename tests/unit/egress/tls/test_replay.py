import anyio

from orchestrator.egress.memory import stream_pair
from orchestrator.egress.tls.replay import ReplayedStream


def test_bytes_put_back_come_first_and_once():
    """Then the stream goes on, in both directions."""

    async def scene() -> None:
        ours, theirs = stream_pair()
        stream = ReplayedStream(ours, b"first")
        await theirs.send(b"second", last=True)
        await stream.send(b"answer")

        assert [await stream.receive() for _ in range(3)] == [b"first", b"second", b""]
        assert await theirs.receive() == b"answer"
        await stream.close()
        assert ours.closed

    anyio.run(scene)
