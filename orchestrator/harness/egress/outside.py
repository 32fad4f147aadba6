"""What is at the host's end of a box's way out: the proxy, and models where the box may ask them."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.egress.endpoint.server import ModelEndpoint
from orchestrator.egress.proxy import Proxy
from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.egress import Caller
from orchestrator.schema.way_out import Incoming


@dataclass(frozen=True, slots=True)
class SessionOutside:
    """One session's."""

    proxy: Proxy
    models: ModelEndpoint | None = None

    async def serve(self, incoming: Incoming, stream: BoxStream) -> None:
        """Serve one connection of a program in the box until it is over."""
        if incoming.door != "model":
            await self.proxy.serve(stream, incoming)
        elif self.models is not None:
            await self.models.serve(stream, incoming.caller)
        else:
            await stream.close()

    async def knows(self, name: str, caller: Caller | None) -> bool:
        """Say whether a name may be looked up."""
        return await self.proxy.knows(name, caller)
