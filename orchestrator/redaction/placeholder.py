"""What stands in a secret's place, and the ledger that can turn it back.

A placeholder's digits come from a keyed hash: the same secret looks the same all session long,
and nobody without the session's key can test a guess against it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import defaultdict

PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9][a-z0-9-]{0,47}:[0-9a-f]{8,64}\]")

_DIGITS = 8
_NOT_IN_KIND = re.compile(r"[^a-z0-9]+")


def placeholders_in(text: str) -> tuple[str, ...]:
    """Return the placeholders in a text, each once, in order."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def kind_from(name: str) -> str:
    """Return a name in the form a placeholder can carry."""
    return _NOT_IN_KIND.sub("-", name.lower()).strip("-")[:48].strip("-") or "secret"


class Ledger:
    """Which placeholder stands for what, and in which files it was read."""

    def __init__(self, key: bytes) -> None:
        """``key`` is the session's own and secret."""
        self._key = key
        self._secrets: dict[str, str] = {}
        self._origins: defaultdict[str, set[str]] = defaultdict(set)

    def issue(self, kind: str, secret: str) -> str:
        """Return the placeholder of a secret; two secrets never share one."""
        raw = secret.encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, raw, hashlib.sha256).hexdigest()
        for digits in range(_DIGITS, len(digest) + 1):
            placeholder = f"[redacted:{kind}:{digest[:digits]}]"
            if self._secrets.setdefault(placeholder, secret) == secret:
                return placeholder
        raise AssertionError("two texts with one SHA-256")

    def note_origin(self, placeholder: str, path: str) -> None:
        """Remember that the placeholder's secret was read in the file."""
        self._origins[path].add(placeholder)

    def restore(self, text: str, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the text with the secrets that were read in this file, and what stayed.

        A placeholder that was itself the file's content, never issued here, stands for itself.
        """
        unresolved: dict[str, None] = {}

        def back(match: re.Match[str]) -> str:
            placeholder = match[0]
            if placeholder in self._origins.get(path, ()):
                return self._secrets.get(placeholder, placeholder)
            unresolved[placeholder] = None
            return placeholder

        return PLACEHOLDER.sub(back, text), tuple(unresolved)
