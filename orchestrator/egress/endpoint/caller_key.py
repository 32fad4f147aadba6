"""The session's placeholder in a request: the one key that programs in the box have."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from urllib.parse import parse_qsl

KEY_HEADERS = frozenset({"x-api-key", "api-key", "x-goog-api-key"})
KEY_PARAMETER = "key"


def presented_keys(headers: Iterable[tuple[str, str]], query: str) -> tuple[str, ...]:
    """Return every key that a request carries; header names are lower case."""
    found = []
    for name, value in headers:
        if name in KEY_HEADERS:
            found.append(value)
        elif name == "authorization":
            scheme, _, key = value.partition(" ")
            found.append(key.strip() if scheme.lower() == "bearer" else "")
    found += [value for name, value in parse_qsl(query, True) if name == KEY_PARAMETER]
    return tuple(found)


def is_callers(keys: Iterable[str], placeholder: str) -> bool:
    """Say whether there is a key and none is another than the placeholder, in constant time."""
    wanted = placeholder.encode()
    fits = [hmac.compare_digest(key.encode("utf-8", "replace"), wanted) for key in keys]
    return bool(fits) and all(fits)
