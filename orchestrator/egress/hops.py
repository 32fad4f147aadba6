"""Headers that are for one hop only: what of a message's headers goes on, and what they ask."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.egress.seams import Headers

_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"http2-settings",
        b"alt-svc",
    )
)
"""``alt-svc`` names another way to the same server, which would be no way through here."""

_OURS = (b"proxy-", b"x-glovebox-")
"""For and from the proxy itself: no server speaks to it or in its name."""

_NEEDED = frozenset((b"host", b"content-length", b"content-type", b"authorization", b"expect"))
"""Not droppable by a Connection header: a request must not lose by it what it was judged by."""

_BEFORE = rb"(?:orig|original|originating|unencoded|rewrite|rewritten|replaced|forwarded|real|request|http|override)"
_METHOD = re.compile(
    rb"(?:x-)?(?:http-)?method-override|x-(?:http-)?method|(?:x-)(?:[a-z]+-)?"
    + _BEFORE
    + rb"-method"
)
_PATH = re.compile(
    rb"(?:x-)?(?:[a-z]+-)?" + _BEFORE + rb"-(?:request-)?(?:url|uri|path|path-info)(?:-override)?|"
    rb"x-(?:url|uri|path)-override|x-path-info"
)
"""Headers by which one server tells the next what was asked before it: some believe the box's."""
_PREFIX = re.compile(
    rb"x-(?:forwarded|original)-(?:prefix|context|base-path)|x-script-name|x-ingress-path"
)
"""The same, for what stands before the path."""
_ORIGIN = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the comma-separated values of a header, in lower case."""
    found = (value for key, value in headers if key.lower() == name)
    return [part.strip(b" \t").lower() for value in found for part in value.split(b",")]


def end_to_end(headers: Headers) -> Headers:
    """Return the headers without those of this hop, and without those that Connection names."""
    named = {name for name in values(headers, b"connection") if name not in _NEEDED}
    dropped = _HOP | named
    return tuple(
        (name, value)
        for name, value in headers
        if name.lower() not in dropped and not name.lower().startswith(_OURS)
    )


def upgrade_of(headers: Headers) -> str:
    """Return the protocol that is asked for, in lower case; empty where none is."""
    if b"upgrade" not in values(headers, b"connection"):
        return ""
    return b",".join(values(headers, b"upgrade")).decode("ascii", "replace")


def overrides_of(headers: Headers) -> tuple[str, ...]:
    """Return the methods that headers ask the server to use in place of the request's."""
    found = (value for name, value in headers if _METHOD.fullmatch(_spelled(name)))
    parts = (part.strip(b" \t") for value in found for part in value.split(b","))
    return tuple(part.decode("ascii", "backslashreplace") for part in parts)


def paths_of(headers: Headers, target: str) -> tuple[str, ...]:
    """Return the paths that headers ask the server to take in place of ``target``'s, or before it.

    Without scheme, host and query; a list is each of its parts, and the whole of it.
    """
    return tuple(dict.fromkeys(_paths(headers, target.partition("?")[0])))


def _paths(headers: Headers, path: str) -> Iterator[str]:
    for name, value in headers:
        spelled = _spelled(name)
        before = _PREFIX.fullmatch(spelled) is not None
        if not (before or _PATH.fullmatch(spelled)):
            continue
        text = value.decode("latin-1")
        for part in dict.fromkeys((text, *text.split(","))):
            other = re.split("[?#]", _ORIGIN.sub("", part.strip(), count=1))[0]
            rooted = other if other.startswith("/") else "/" + other
            if part.strip():
                yield rooted.rstrip("/") + path if before else rooted


def _spelled(name: bytes) -> bytes:
    return name.lower().replace(b"_", b"-")


def length_of(headers: Headers) -> int | None:
    """Return the Content-Length; None without one. The head was checked: it is a number."""
    found = next((value for name, value in headers if name.lower() == b"content-length"), None)
    return int(found) if found is not None else None
