"""Signed messages between the harness and a webhook: HMAC-SHA256 over time, nonce and body. Pure.

The kind is signed too, so that a question sent back is no answer.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping

from orchestrator.credentials.secret import Secret

TIMESTAMP, NONCE, SIGNATURE = "Glovebox-Timestamp", "Glovebox-Nonce", "Glovebox-Signature"
WINDOW_S = 300
"""Seconds that a message may be old, or a clock be ahead."""
_NONCE = re.compile(r"[0-9A-Za-z_-]{16,128}")
_SECONDS = re.compile(r"[0-9]{1,12}")


def sign(secret: Secret, kind: str, body: bytes, *, timestamp: int, nonce: str) -> dict[str, str]:
    """Return the headers of a message; ``kind`` is ``question``, ``closed`` or ``answer``."""
    return {
        TIMESTAMP: str(timestamp),
        NONCE: nonce,
        SIGNATURE: _signature(secret, (kind, str(timestamp), nonce), body),
    }


def check(secret: Secret, kind: str, body: bytes, *, headers: Mapping[str, str], now: float) -> str:
    """Return the message's nonce; raises ValueError with the reason where it is not genuine."""
    timestamp, nonce = headers.get(TIMESTAMP, ""), headers.get(NONCE, "")
    if not _SECONDS.fullmatch(timestamp) or not _NONCE.fullmatch(nonce):
        raise ValueError("it is not signed")
    wanted = _signature(secret, (kind, timestamp, nonce), body)
    if not hmac.compare_digest(wanted.encode(), headers.get(SIGNATURE, "").encode()):
        raise ValueError("its signature is wrong")
    if abs(now - int(timestamp)) > WINDOW_S:
        raise ValueError(f"it is more than {WINDOW_S} s old, or a clock is wrong")
    return nonce


def _signature(secret: Secret, head: tuple[str, str, str], body: bytes) -> str:
    signed = "\n".join(("glovebox-v1", *head)).encode() + b"\n" + body
    key = secret.reveal().encode("utf-8", "surrogatepass")
    return "v1=" + hmac.new(key, signed, hashlib.sha256).hexdigest()
