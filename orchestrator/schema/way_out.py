"""How programs in a box reach the host's proxy: what the box is told, and what it hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orchestrator.schema.egress import Caller

IncomingDoor: TypeAlias = Literal["proxy", "transparent", "model"]


@dataclass(frozen=True, slots=True)
class WayOut:
    """What a box is told once its session may let something out."""

    certificates: str
    """PEM of the authorities that the box trusts besides those of its image."""
    proxy_port: int = 3128
    """On 127.0.0.1 in the box, as are the others."""
    model_port: int | None = None
    """None where programs in the box may not ask a model."""
    transparent_ports: tuple[int, ...] = (80, 443)
    """Ports of names that programs which ignore the proxy may connect to."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Further variables for commands: placeholders of secrets, base URLs."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A connection that a program in the box made; everything here is the box's word, untrusted."""

    door: IncomingDoor
    host: str = ""
    """Name that the program connected to, as it asked for it; only of ``transparent``."""
    port: int = 0
    """Port that it connected to; only of ``transparent``."""
    caller: Caller | None = None
