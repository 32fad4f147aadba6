"""Large parts of a body, kept beside the chain under their digest.

A body's own top-level fields are moved out whole, the largest first, and named under
``payloads``. Callers cannot write that name, so no content can pose as a reference.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rfc8785

from orchestrator.audit.entry import DIGEST
from orchestrator.audit.files import sync_directory
from orchestrator.errors import AuditError, AuditUnavailable
from orchestrator.schema.ids import Digest, digest_of

REFERENCES = "payloads"

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

MAX_BODY = 16 * 1024
"""Bytes of a body in the chain itself: keeps lines readable and verification quick."""


def move_out(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Digest, bytes]]:
    """Return the body as the chain holds it, and the payloads it names."""
    if REFERENCES in body:
        raise AuditError(f"audit body.{REFERENCES}: the name is reserved")
    kept = dict(body)
    if _size(kept) <= MAX_BODY:
        return kept, {}
    sizes = {name: rfc8785.dumps(value) for name, value in body.items()}
    payloads: dict[Digest, bytes] = {}
    for name in sorted(sizes, key=lambda name: len(sizes[name]), reverse=True):
        digest = digest_of(sizes[name])
        payloads[digest] = sizes[name]
        del kept[name]
        reference = {name: {"digest": digest, "bytes": len(sizes[name])}}
        kept[REFERENCES] = {**kept.get(REFERENCES, {}), **reference}
        if _size(kept) <= MAX_BODY:
            return kept, payloads
    raise AuditError(f"audit body: {len(body)} fields are too many for one record")


def _size(body: Mapping[str, Any]) -> int:
    """Return the body's length as compact JSON, which is its canonical length but for floats."""
    return len(_compact(body).encode())


def references(body: Mapping[str, Any]) -> dict[str, Digest]:
    """Return the payloads that a chain's body names, by field; raises ValueError for a bad name."""
    named = body.get(REFERENCES, {})
    try:
        found = {str(field): str(item["digest"]) for field, item in named.items()}
    except (AttributeError, KeyError, TypeError) as err:
        raise ValueError(f"{REFERENCES}: expected a digest for each field") from err
    for field, digest in found.items():
        # The digest becomes a file's name.
        if not DIGEST.fullmatch(digest):
            raise ValueError(f"{REFERENCES}.{field}: expected sha256: and 64 hex digits")
    return {field: Digest(digest) for field, digest in found.items()}


def payload_folder(chain: Path) -> Path:
    """Return where a chain's payloads are."""
    return chain.with_suffix(".payloads")


def payload_path(chain: Path, digest: Digest) -> Path:
    """Return a payload's file, named by its digest alone."""
    return payload_folder(chain) / digest.removeprefix("sha256:")


def store_payload(chain: Path, digest: Digest, data: bytes) -> None:
    """Return when the payload is on disk, mode 0600; raises AuditUnavailable."""
    path = payload_path(chain, digest)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        draft.replace(path)
        sync_directory(path.parent)
    except OSError as err:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise AuditUnavailable(f"{path}: the payload cannot be written: {err.strerror}") from err
