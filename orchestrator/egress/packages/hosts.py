"""A session's package hosts: those that the clients name, and what their indexes announce.

An index names files on other hosts. Exactly those addresses are admitted, for as long as the
session lasts: so that whoever may publish a package cannot make the box talk to a host of theirs
in words of the box's own choosing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit

from orchestrator.egress.packages.client import Announced, Named
from orchestrator.egress.packages.places import Origin, lies_below, origin_of, place_of
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.packages import Ecosystem, PackagePlace

K = TypeVar("K")
V = TypeVar("V")

MOST_FILES = 100_000
"""Announced files that are remembered, about 40 MB; the oldest go first."""
MOST_ORIGINS = 256
MOST_BASES = 32


class Known(NamedTuple):
    """An announced file."""

    ecosystem: Ecosystem
    named: Named | None
    digest: str = ""
    """``ALGORITHM:HEX``, the strongest that was announced."""
    hops: int = 0
    """Redirections that led here."""


class PackageHosts:
    """Answers for policy (``Packages``) and for the watch; of one session, of one event loop."""

    def __init__(self, places: Iterable[PackagePlace] = ()) -> None:
        """Begin with what the clients themselves name."""
        self.places = list(places)
        self._named = len(self.places)
        self._files: dict[bytes, Known] = {}
        self._by_name: dict[tuple[Ecosystem, Named], str] = {}
        self._origins: dict[Origin, set[Ecosystem]] = {}

    def ecosystem(self, request: EgressRequest, wanted: Collection[Ecosystem]) -> Ecosystem | None:
        """Return the one of ``wanted`` whose server the request would reach, None for no such."""
        if place := self.place(request, wanted):
            return place.ecosystem
        if request.method is None:
            return self._announced_at(request, wanted)
        known = self.known(request)
        return known.ecosystem if known is not None and known.ecosystem in wanted else None

    def place(
        self, request: EgressRequest, wanted: Collection[Ecosystem] | None = None
    ) -> PackagePlace | None:
        """Return the place that the request, tunnel or look-up is for; the first that fits."""
        for place in self.places:
            if (wanted is None or place.ecosystem in wanted) and _reaches(request, place):
                return place
        return None

    def known(self, request: EgressRequest) -> Known | None:
        """Return the announced file that a request asks for, by its very address."""
        origin = (request.scheme, request.host, request.port)
        return self._files.get(_key(origin, request.target))

    def digest(self, ecosystem: Ecosystem, named: Named) -> str:
        """Return what an index announced for a file that it gave no address for; or nothing."""
        return self._by_name.get((ecosystem, named), "")

    def learn(self, ecosystem: Ecosystem, announced: Announced) -> bool:
        """Take in what a trusted index announced; say whether any of it lies elsewhere.

        To be called only for what came over verified TLS from a place.
        """
        for base in announced.bases:
            self._learn_base(ecosystem, base)
        elsewhere = False
        for link in announced.links:
            digest = _strongest(link.digests)
            if not link.url and link.named is not None:
                _keep(self._by_name, (ecosystem, link.named), digest)
            elif self.learn_file(link.url, Known(ecosystem, link.named, digest)):
                elsewhere = elsewhere or not self._is_beside(link.url, ecosystem)
        return elsewhere

    def learn_file(self, url: str, known: Known) -> bool:
        """Admit one address; False for one that is not https to a server's name."""
        origin = origin_of(url)
        if origin is None or origin[0] != "https" or not _is_name(origin[1]):
            return False
        if origin not in self._origins and len(self._origins) >= MOST_ORIGINS:
            return False
        self._origins.setdefault(origin, set()).add(known.ecosystem)
        for target in _spellings(url):
            _keep(self._files, _key(origin, target), known)
        return True

    def _learn_base(self, ecosystem: Ecosystem, base: str) -> None:
        place = place_of(ecosystem, base)
        room = len(self.places) - self._named < MOST_BASES
        if place is not None and place.scheme == "https" and place not in self.places and room:
            self.places.append(place)

    def _is_beside(self, url: str, ecosystem: Ecosystem) -> bool:
        place = place_of(ecosystem, url)
        return place is not None and any(
            (known.scheme, known.host, known.port) == (place.scheme, place.host, place.port)
            and place.path.startswith(known.path)
            for known in self.places
            if known.ecosystem == ecosystem
        )

    def _announced_at(
        self, request: EgressRequest, wanted: Collection[Ecosystem]
    ) -> Ecosystem | None:
        for (scheme, host, port), ecosystems in self._origins.items():
            if _same_server(request, scheme, host, port):
                found = next((name for name in wanted if name in ecosystems), None)
                if found is not None:
                    return found
        return None


def _reaches(request: EgressRequest, place: PackagePlace) -> bool:
    if not _same_server(request, place.scheme, place.host, place.port):
        return False
    return request.method is None or lies_below(request.path, place.path)


def _same_server(request: EgressRequest, scheme: str, host: str, port: int) -> bool:
    if request.host != host:
        return False
    return request.door == "dns" or (request.scheme == scheme and request.port == port)


def _is_name(host: str) -> bool:
    """Say whether it is no address: a page has no reason to name one."""
    return ":" not in host and not host.rpartition(".")[2].isdigit()


def _spellings(url: str) -> set[str]:
    """Return the targets that clients make of a link: as it is, and as they quote it anew."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    path = parts.path or "/"
    if _PLAIN.fullmatch(path):
        return {path + query}
    plain = unquote(path)
    return {path + query, *(quote(plain, safe=safe) + query for safe in _SAFE)}


_PLAIN = re.compile(r"[A-Za-z0-9/._~-]*")
"""What every client leaves as it is."""
_SAFE = ("/@", "/@+", "/@+!$&'()*,;=:~")
"""Characters left as they are by pip; by browsers' rules for a plus; by requests."""


def _key(origin: Origin, target: str) -> bytes:
    scheme, host, port = origin
    text = f"{scheme}://{host}:{port}{target}"
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _strongest(digests: Iterable[str]) -> str:
    by_name = {digest.partition(":")[0]: digest for digest in digests}
    return next((by_name[name] for name in ALGORITHMS if name in by_name), "")


ALGORITHMS = ("sha512", "sha384", "sha256", "sha1", "md5")
"""Strongest first."""


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST_FILES:
        del kept[next(iter(kept))]
