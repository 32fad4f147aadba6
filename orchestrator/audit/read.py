"""A chain's records with their payloads put back, for whoever reads the past."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.audit.entry import decode_record
from orchestrator.audit.payload import REFERENCES, payload_path, references
from orchestrator.audit.verify import verify_file
from orchestrator.errors import AuditError
from orchestrator.named_file import opened_regular, real_path


def read_bodies(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield seq, type and whole body of every record; AuditError where the chain is broken.

    A last line that is torn was never acknowledged, and is left out.
    """
    verdict = verify_file(path)
    if verdict.state == "broken":
        raise AuditError(f"{path}: {verdict}", hint="a record that may be forged proves nothing")
    with opened_regular(real_path(path)) as file:
        for line in file:
            if line.endswith(b"\n"):
                record = decode_record(line[:-1])
                yield record.seq, record.type, _whole(path, record.body)


def _whole(path: Path, body: Any) -> dict[str, Any]:
    moved = {
        field: json.loads(payload_path(path, digest).read_bytes())
        for field, digest in references(body).items()
    }
    kept = {name: value for name, value in body.items() if name != REFERENCES}
    return {**kept, **moved}
