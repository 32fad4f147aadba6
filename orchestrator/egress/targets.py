"""What a request is for, by its target and its Host header, which have to agree."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.egress.strict import MessageError
from orchestrator.policy.hosts import HostRefused, canonical_host
from orchestrator.schema.egress import Scheme

USUAL_PORT: dict[Scheme, int] = {"https": 443, "http": 80}

_PORT = re.compile(r"[1-9][0-9]{0,4}")
_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes; the host is canonical."""

    scheme: Scheme
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port as a Host header says them: a usual port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == USUAL_PORT.get(self.scheme) else f"{host}:{self.port}"


class PlaceRefusedError(MessageError):
    """A target names no place, or names one ambiguously: refused whatever the rules say."""

    def __init__(self, refused: HostRefused, place: Place) -> None:
        """``place`` has the host as it was written, for the record."""
        super().__init__(str(refused), status=403)
        self.rule = refused.rule
        self.place = place


def parse_connect(target: str, scheme: Scheme = "https") -> Place:
    """Return the end of a tunnel: HOST:PORT and nothing else."""
    host, port = _split(target, scheme, None)
    return _place(scheme, host, port)


def parse_absolute(target: str) -> tuple[Place, str]:
    """Return place and origin-form of an absolute target, as a proxy is sent it."""
    found = _ABSOLUTE.fullmatch(target)
    if found is None:
        raise MessageError("a proxy needs the whole URL as target, without a fragment")
    scheme = found[1].lower()
    if scheme not in {"http", "https"}:
        raise MessageError(f"URLs of scheme {scheme} are not fetched")
    known: Scheme = "https" if scheme == "https" else "http"
    host, port = _split(found[2], known, USUAL_PORT[known])
    rest = found[3]
    return _place(known, host, port), rest if rest.startswith("/") else f"/{rest}"


def parse_origin(target: str, place: Place) -> str:
    """Return the origin-form of a target that is sent to ``place`` itself."""
    if target.startswith("/"):
        if "#" in target:
            raise MessageError("the target has a fragment")
        return target
    named, origin = parse_absolute(target)
    if named != place:
        raise MessageError("the target names another place than the connection is for", status=403)
    return origin


def check_host(header: bytes | None, place: Place) -> None:
    """Raise MessageError unless the Host header names ``place``; only HTTP/1.0 goes without."""
    if header is None or header == place.authority.encode():
        return
    try:
        text = header.decode("ascii")
        host, port = _split(text, place.scheme, USUAL_PORT.get(place.scheme))
        named = canonical_host(host)
    except (UnicodeDecodeError, ValueError) as error:
        raise MessageError("the Host header names no host") from error
    if (named, port) != (place.host, place.port):
        raise MessageError(
            "the Host header names another place than the request is for", status=403
        )


def _place(scheme: Scheme, host: str, port: int) -> Place:
    try:
        return Place(scheme, canonical_host(host), port)
    except HostRefused as refused:
        written = host.encode("ascii", "backslashreplace").decode()[:255]
        raise PlaceRefusedError(refused, Place(scheme, written, port)) from refused


def _split(authority: str, scheme: Scheme, usual: int | None) -> tuple[str, int]:
    """Return host and port as they are written."""
    host, colon, port = authority.rpartition(":")
    if "]" in port or not colon:
        host, port = authority, ""
    if "@" in authority:
        raise PlaceRefusedError(
            HostRefused("the host brings a user name"), Place(scheme, authority[:255], 0)
        )
    if not port:
        if usual is None or (colon and host != authority):
            raise MessageError("the port is missing")
        return _bare(host), usual
    if not _PORT.fullmatch(port) or int(port) > 65535:
        raise MessageError("the port is no number from 1 to 65535")
    return _bare(host), int(port)


def _bare(host: str) -> str:
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise MessageError("an IPv6 address stands in brackets")
    return host
