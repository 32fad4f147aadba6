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
    """Which placeholder stands for what, and what each file really holds in its place."""

    def __init__(self, key: bytes) -> None:
        """``key`` is the session's own and secret."""
        self._key = key
        self._secrets: dict[str, str] = {}
        self._read: defaultdict[str, dict[str, str | None]] = defaultdict(dict)

    def issue(self, kind: str, secret: str) -> str:
        """Return the placeholder of a secret; two secrets never share one."""
        raw = secret.encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, raw, hashlib.sha256).hexdigest()
        digits = _DIGITS
        while True:
            placeholder = f"[redacted:{kind}:{digest[:digits]}]"
            if self._secrets.setdefault(placeholder, secret) == secret:
                return placeholder
            digits += 1

    def note_read(self, path: str, placeholder: str, text: str) -> None:
        """Remember that ``text`` is what the file holds where the reader sees the placeholder.

        A file that holds two different texts behind one placeholder gives back neither.
        """
        held = self._read[path].setdefault(placeholder, text)
        if held != text:
            self._read[path][placeholder] = None

    def restore(self, text: str, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the text with what this file held put back, and the placeholders that stayed."""
        unresolved: dict[str, None] = {}
        held = self._read.get(path, {})

        def back(match: re.Match[str]) -> str:
            original = held.get(match[0])
            if original is None:
                unresolved[match[0]] = None
            return match[0] if original is None else original

        return PLACEHOLDER.sub(back, text), tuple(unresolved)
