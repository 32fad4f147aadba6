"""Which door leads where; the doors themselves are tested with the way out as a whole."""

import anyio

from orchestrator.egress.memory import stream_pair
from orchestrator.harness.egress.outside import SessionOutside
from orchestrator.schema.egress import Caller
from orchestrator.schema.way_out import Incoming


class Known:
    """A proxy and an endpoint that keep what they are given."""

    def __init__(self):
        self.got = []

    async def serve(self, _stream, about):
        self.got.append(about)

    async def knows(self, name, _caller):
        return name == "known.example"


def test_model_door_leads_to_models_and_others_to_the_proxy():
    """Names are the proxy's to answer."""

    async def run():
        proxy, models = Known(), Known()
        outside = SessionOutside(proxy, models)
        here, _ = stream_pair()
        for door in ("proxy", "transparent", "model"):
            await outside.serve(Incoming(door, caller=Caller(1, "/bin/x")), here)
        return proxy.got, models.got, await outside.knows("known.example", None)

    proxied, asked, known = anyio.run(run)
    assert [incoming.door for incoming in proxied] == ["proxy", "transparent"]
    assert asked == [Caller(1, "/bin/x")]
    assert known


def test_without_models_their_door_is_shut():
    """The connection is let go of."""

    async def run():
        here, there = stream_pair()
        await SessionOutside(Known()).serve(Incoming("model"), here)
        return await there.receive()

    assert anyio.run(run) == b""
