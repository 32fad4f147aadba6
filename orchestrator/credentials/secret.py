"""A value that cannot be printed, logged, pickled or serialised by accident."""

from __future__ import annotations

import hashlib
import hmac
from typing import NoReturn, SupportsIndex

_MASK = "Secret(…)"


class Secret:
    """Holds a text; only ``reveal`` gives it out."""

    __slots__ = ("__value",)

    def __init__(self, value: str, *, keep_space: bool = False) -> None:
        """Take the value; surrounding white space is never part of a key, but may be of a passphrase."""
        self.__value = value if keep_space else value.strip()

    def reveal(self) -> str:
        """Return the value; call it only where the value is used."""
        return self.__value

    def fingerprint(self) -> str:
        """Return eight hex digits that tell two secrets apart and give neither away."""
        salted = b"glovebox key fingerprint\0" + self.__value.encode("utf-8", "surrogatepass")
        return hashlib.sha256(salted).hexdigest()[:8]

    def __bool__(self) -> bool:
        """Say whether there is any value."""
        return bool(self.__value)

    def __eq__(self, other: object) -> bool:
        """Compare in constant time, and only with another Secret."""
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(_bytes(self), _bytes(other))

    __hash__ = None  # type: ignore[assignment]  # a hash of a secret must not travel

    def __repr__(self) -> str:
        """Return a mask."""
        return _MASK

    def __str__(self) -> str:
        """Return a mask."""
        return _MASK

    def __format__(self, spec: str) -> str:
        """Return a mask, whatever the format."""
        return _MASK

    def __copy__(self) -> Secret:
        """Return itself."""
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Secret:
        """Return itself."""
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("a Secret cannot be pickled")


def _bytes(secret: Secret) -> bytes:
    return secret.reveal().encode("utf-8", "surrogatepass")
