"""What is known of one package manager: how to ask it, and how to read what its servers say.

The question runs in the image, away from the workspace; the answer is the image's word. Pages are
a server's word: a link counts only where the page came over verified TLS from a known index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.schema.packages import Ecosystem


@dataclass(frozen=True, slots=True)
class Named:
    """What an artefact is, by its address."""

    name: str
    version: str
    """Empty where the address does not say it."""
    file: str


@dataclass(frozen=True, slots=True)
class Link:
    """A file that an index page names."""

    url: str
    """Absolute, without a fragment."""
    named: Named | None
    """None for what is no artefact itself, such as a wheel's metadata."""
    digests: tuple[str, ...] = ()
    """Each ``ALGORITHM:HEX``."""


@dataclass(frozen=True, slots=True)
class Page:
    """An index page, decoded, as it passed."""

    url: str
    media: str
    """Its media type, lower case, without parameters."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Announced:
    """What a page says of other places."""

    links: Sequence[Link] = ()
    bases: Sequence[str] = ()
    """URLs below which this index keeps its artefacts, by its own settings."""


@dataclass(frozen=True, slots=True)
class Client:
    """One package manager."""

    ecosystem: Ecosystem
    command: str
    """For a POSIX shell; prints the client's settings, exit code 127 where it is not installed."""
    addresses: Callable[[str], list[str]]
    """Base URLs in what the command printed, each once; ValueError where it cannot be read."""
    artefact: Callable[[str], Named | None]
    """What the path of a URL, decoded, names; None for an index page and the like."""
    is_index: Callable[[str, str], bool]
    """Whether a path, with the media type it is answered with, is a page to read."""
    announced: Callable[[Page], Announced]
    """What a page announces; ValueError where it cannot be read."""


def no_index(_path: str, _media: str) -> bool:
    """Say no: this client's artefacts lie where its settings say."""
    return False


def nothing_announced(_page: Page) -> Announced:
    """Return nothing."""
    return Announced()


def each_once(addresses: Sequence[str]) -> list[str]:
    """Return the web addresses among them, in order, without repetition."""
    return [url for url in dict.fromkeys(addresses) if url.startswith(("https://", "http://"))]
