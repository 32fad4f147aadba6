"""A request as it was read, before anybody judged it."""

from __future__ import annotations

from dataclasses import dataclass

import h11

from orchestrator.egress.framed import Framed
from orchestrator.egress.seams import Headers
from orchestrator.egress.targets import Place


@dataclass(frozen=True)
class Asked:
    """One request, its body unread."""

    method: str
    target: str
    """In origin-form, byte for byte."""
    place: Place
    headers: Headers
    version: bytes
    framed: Framed
    first: h11.Event | None
    """First part of the body, where it came with the head."""
    upgrade: str = ""

    @property
    def has_body(self) -> bool:
        """Whether more than the head is to be sent."""
        return not isinstance(self.first, h11.EndOfMessage)
