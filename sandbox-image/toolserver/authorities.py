"""Further authorities that programs trust, in the forms that clients read.

Loaded when something is let out.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
import struct

from trust import BUNDLE, JAVA_STORE, STORE, TRUST

MOST = 4 * 1024**2
"""Bytes read of the image's store."""

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_JAVA_PASSWORD = "changeit"


def extend(certificates: str, trust: str = TRUST, store: str = STORE) -> None:
    """Let programs trust these authorities too, given as PEM."""
    whole = _own(store) + b"\n" + certificates.encode()
    _write(f"{trust}/{BUNDLE}", whole)
    _write(f"{trust}/{JAVA_STORE}", java_store(whole))


def java_store(bundle: bytes) -> bytes:
    """Return a key store in Java's own form (JKS, version 2) that trusts a PEM bundle."""
    found = [base64.b64decode(body) for body in _PEM.findall(bundle)]
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(found))]
    for number, certificate in enumerate(found):
        parts += [struct.pack(">I", 2), _text(f"authority-{number}"), struct.pack(">Q", 0)]
        parts += [_text("X.509"), struct.pack(">I", len(certificate)), certificate]
    content = b"".join(parts)
    seal = _JAVA_PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + content
    return content + hashlib.sha1(seal, usedforsecurity=False).digest()


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _own(store: str) -> bytes:
    try:
        # An image may have anything there.
        handle = os.open(store, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return b""
    with open(handle, "rb") as file:
        return file.read(MOST)


def _write(path: str, content: bytes) -> None:
    """Replace a file at once: a program reads the old one or the new one."""
    fresh = f"{path}.new"
    with open(fresh, "wb") as file:
        file.write(content)
    os.chmod(fresh, 0o644)
    os.replace(fresh, path)
