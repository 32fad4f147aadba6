"""One provider that programs in the box may reach through the host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from orchestrator.credentials.secret import Secret
from orchestrator.egress.endpoint.price import Price
from orchestrator.egress.endpoint.routes import Api, Route

IDLE_S = 600.0
"""Seconds that a server may think before its first word."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A provider as the session's owner configured it."""

    name: str
    apis: frozenset[Api]
    base_url: str
    key: Secret | None
    price: Callable[[str], Price]
    """Of a model, by the provider's own name for it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Configured ones; no secrets."""
    idle_timeout_s: float = IDLE_S
    only_model: str = ""
    """Of a provider that has one; its own name then stands for it."""
    direct: bool = False
    """Of this machine: no proxy of the environment is asked, no connection kept."""
    open: Callable[[], Awaitable[Upstream]] | None = None
    """Starts it, where it runs only when it is asked; gives it with its address and key."""

    def url(self, route: Route, query: str, *, model: str = "") -> str:
        """Return the address of a call; ``model`` stands in the path's own place where given."""
        base, tail = self.base_url.rstrip("/"), route.tail
        if model and route.model:
            tail = tail.replace(f"/models/{route.model}", f"/models/{model}", 1)
        version = {"anthropic": "/v1", "gemini": "/v1beta", "openai": ""}[route.shape]
        if version and base.endswith(version):
            base = base.removesuffix(version)
        return f"{base}{version}{tail}{query}"

    def serves(self, route: Route) -> bool:
        """Say whether it speaks the API of a call."""
        return bool(self.apis & route.apis)
