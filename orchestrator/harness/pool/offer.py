"""A warm box on its way from the pool to the session that takes it over."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, StringConstraints

from orchestrator.engine.lease import Lease
from orchestrator.errors import BoxError, WorkspaceError
from orchestrator.sandbox.handoff import HandedBox, Held
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.posture import Posture

DESCRIPTORS = 3
"""Lifeline, calls, lease."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A box that has been let go of; whoever receives it answers for it."""

    session: SessionId
    """The id that the box and its workspace were made with."""
    handed: HandedBox
    posture: Posture
    lease: Lease
    brought: Digest
    """Of the variables that its commands were given."""

    def close(self) -> None:
        """Let go of this process's hold; a box that nobody else holds ends by it."""
        self.handed.held.close()
        self.lease.close()


class UnfitError(WorkspaceError):
    """Raised where no box of this recipe can ever wait."""


class Source(Protocol):
    """Where a warm box may be had."""

    async def take(self, key: Digest) -> Offer | str:
        """Return a box that was made under this key, or why there is none."""
        ...


class OfferNote(BaseModel):
    """What goes along with the descriptors."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    session: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,16}$")]
    container: str
    facts: dict[str, str]
    latest: int
    posture: Posture
    lease: str
    brought: str


def pack(offer: Offer) -> tuple[bytes, list[int]]:
    """Return the note and the descriptors of an offer."""
    held = offer.handed.held
    note = OfferNote(
        session=offer.session,
        container=offer.handed.container,
        facts=dict(offer.handed.facts),
        latest=held.latest,
        posture=offer.posture,
        lease=str(offer.lease.path),
        brought=offer.brought,
    )
    descriptors = [held.lifeline.fileno(), held.calls.fileno(), offer.lease.fileno()]
    return note.model_dump_json().encode(), descriptors


def unpack(data: bytes, descriptors: Sequence[int]) -> Offer:
    """Return the offer in a message; on BoxError all descriptors are closed."""
    try:
        note = OfferNote.model_validate_json(data)
        first, second, third = descriptors
    except ValueError as err:
        for fd in descriptors:
            os.close(fd)
        raise BoxError("pool: its answer does not fit this version") from err
    lifeline, calls = (_socket(fd) for fd in (first, second))
    handed = HandedBox(note.container, note.facts, Held(lifeline, calls, note.latest))
    lease = Lease(Path(note.lease), third)
    return Offer(SessionId(note.session), handed, note.posture, lease, Digest(note.brought))


def _socket(fd: int) -> socket.socket:
    sock = socket.socket(fileno=fd)
    sock.setblocking(False)
    return sock
