"""Verification of a chain on disk: the chain itself, whose key signed it, its payloads.

``chain`` holds the rules; here files are read for them. Nothing is ever written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

from orchestrator.audit.chain import GENESIS, BrokenChain, Verdict, verify_chain
from orchestrator.audit.entry import Record
from orchestrator.audit.payload import payload_path, references
from orchestrator.errors import AuditError
from orchestrator.named_file import opened_regular, real_path
from orchestrator.schema.ids import Digest


def verify_file(path: Path, *, key: str | None = None, payloads: bool = True) -> Verdict:
    """Judge the chain in a file; AuditError only when the file cannot be read.

    With ``key`` the chain must be signed by it. Without, the chain's own word is taken for who
    signed: whoever rewrites a whole chain can then sign it anew. ``payloads=False`` is for a
    chain that was copied without the files beside it.
    """

    def visit(record: Record) -> None:
        if record.type == GENESIS and key is not None and record.body.get("public_key") != key:
            raise BrokenChain(record.seq, f"signed by another key than {key}")
        if payloads:
            _check_payloads(path, record)

    try:
        with opened_regular(real_path(path)) as file:
            return verify_chain(file, visit=visit)
    except OSError as err:
        raise AuditError(f"{path}: the chain cannot be read: {err.strerror}") from err


def _check_payloads(chain: Path, record: Record) -> None:
    try:
        named = references(record.body)
    except ValueError as err:
        raise BrokenChain(record.seq, str(err)) from err
    for field, digest in named.items():
        found = _digest_of_file(payload_path(chain, digest))
        if found is None:
            raise BrokenChain(record.seq, f"payload {field} ({digest}) is missing")
        if found != digest:
            raise BrokenChain(record.seq, f"payload {field} is not the one recorded ({digest})")


def _digest_of_file(path: Path) -> Digest | None:
    """Return a regular file's digest, None where there is none; never waits and follows no link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as err:
        if err.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            return None
        raise
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        return Digest(f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}")
