"""Headers that are for one hop only: what of a message's headers goes on, and what they ask."""

from __future__ import annotations

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

_OVERRIDES = (b"x-http-method-override", b"x-method-override", b"x-http-method")


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
    found = (value for name, value in headers if name.lower().replace(b"_", b"-") in _OVERRIDES)
    parts = (part.strip(b" \t") for value in found for part in value.split(b","))
    return tuple(part.decode("ascii", "backslashreplace") for part in parts)


def length_of(headers: Headers) -> int | None:
    """Return the Content-Length; None without one. The head was checked: it is a number."""
    found = next((value for name, value in headers if name.lower() == b"content-length"), None)
    return int(found) if found is not None else None
