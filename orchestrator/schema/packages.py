"""Where package managers fetch from, as their own settings in the image say.

No host of a registry is written anywhere in this project: a client is asked in its image, away
from the workspace, and policy names the client alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

from orchestrator.schema.egress import EgressRequest

Ecosystem: TypeAlias = Literal["pip", "npm", "apt", "cargo", "go", "maven"]

ECOSYSTEMS: tuple[Ecosystem, ...] = get_args(Ecosystem)

READING = ("GET", "HEAD")
"""What packages may ask with; everything else writes, or asks about people."""


@dataclass(frozen=True, slots=True)
class PackagePlace:
    """A part of a server that a client fetches from."""

    ecosystem: Ecosystem
    scheme: Literal["https", "http"]
    host: str
    """In canonical form."""
    port: int
    path: str
    """Begins and ends with a slash; what lies below belongs to it."""
    pages: str = "/"
    """What lies below this is the index's own; elsewhere a server may show what anybody wrote."""


class Packages(Protocol):
    """What policy asks about package hosts; pure for as long as nothing more was announced."""

    def ecosystem(self, request: EgressRequest, wanted: Collection[Ecosystem]) -> Ecosystem | None:
        """Return the one of ``wanted`` whose server the request would reach, None for no such.

        Of a tunnel and of a look-up only the server counts, of a request the path too. The method
        is not looked at: whoever asks says no to all but ``READING``.
        """
        ...
