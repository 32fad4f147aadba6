"""Names for strings that must not be mixed up."""

from __future__ import annotations

import hashlib
from typing import NewType

SessionId = NewType("SessionId", str)
"""Eight to sixteen lower-case hex digits; unique on a machine."""

CallId = NewType("CallId", str)
"""A tool call's id as stored; unique within a session."""

EntryId = NewType("EntryId", str)
"""A session entry's id; unique within a session file."""

Digest = NewType("Digest", str)
"""``sha256:`` and 64 lower-case hex digits."""


def digest_of(data: bytes) -> Digest:
    """Return the SHA-256 digest of ``data``."""
    return Digest("sha256:" + hashlib.sha256(data).hexdigest())
