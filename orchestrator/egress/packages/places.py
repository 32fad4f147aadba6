"""From the addresses that a client named to places: the canonical form that requests are held against."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from orchestrator.schema.packages import Ecosystem, PackagePlace

Origin = tuple[str, str, int]
"""Scheme, host and port."""

PORTS = {"https": 443, "http": 80}


def origin_of(url: str) -> Origin | None:
    """Return where a URL leads, None for one that is not plainly a server's name, or not http."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").removesuffix(".")
    if parts.scheme not in PORTS or not host or not url.isascii():
        return None
    return parts.scheme, host, port or PORTS[parts.scheme]


def place_of(ecosystem: Ecosystem, url: str) -> PackagePlace | None:
    """Return the place below a base URL, None for a URL that ``origin_of`` does not take.

    A password in it is left out: the client sends it in a header, where it is judged.
    """
    origin = origin_of(url)
    if origin is None:
        return None
    scheme, host, port = origin
    pages = ("/" + urlsplit(url).path.strip("/")).rstrip("/") + "/"
    around, _, last = pages.rstrip("/").rpartition("/")
    # Mirrors keep pip's files beside the index, not in it.
    path = f"{around}/" if ecosystem == "pip" and last in {"simple", "+simple"} else pages
    return PackagePlace(
        ecosystem, "https" if scheme == "https" else "http", host, port, path, pages=pages
    )


def lies_below(path: str, base: str) -> bool:
    """Say whether a path is plainly below a base, however often a server decodes it."""
    while path.startswith(base) and not _DOTS.search(path):
        if (decoded := unquote(path)) == path:
            return True
        path = decoded
    return False


_DOTS = re.compile(r"\\|(?:^|/)\.{1,2}(?:[;/]|$)")
"""Segments that lead elsewhere, in any server's reading."""
