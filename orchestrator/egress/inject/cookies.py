"""Cookies that servers set in this session; any other one is somebody else's log-in."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable

_MOST = 4096
"""Cookies remembered, by digest."""


class SeenCookies:
    """What servers of injected requests set, by host."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def note(self, host: str, set_cookie: str) -> None:
        """Remember the cookie of a ``Set-Cookie`` value."""
        digest = _digest(host, set_cookie.partition(";")[0])
        self._seen[digest] = None
        self._seen.move_to_end(digest)
        while len(self._seen) > _MOST:
            self._seen.popitem(last=False)

    def unknown(self, host: str, cookies: Iterable[str]) -> str | None:
        """Return the name of a cookie in ``Cookie`` values that this host did not set; else None."""
        for value in cookies:
            for pair in value.split(";"):
                if pair.strip() and _digest(host, pair) not in self._seen:
                    return pair.partition("=")[0].strip()
        return None


def _digest(host: str, pair: str) -> bytes:
    name, _, value = pair.partition("=")
    text = f"{host}\0{name.strip()}={value.strip()}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
