"""Writes the golden audit chains: every record type, fixed key, fixed times.

``python tests/golden/generate_audit.py`` writes them anew; a test compares them with a fresh run,
so a change of the format cannot happen by accident.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from orchestrator.audit.log import AuditLog, Clock
from orchestrator.audit.signer import Signer
from orchestrator.schema.ids import SessionId

HERE = Path(__file__).parent
CHAIN = "audit-chain.jsonl"
PUBLIC_KEY = "audit-chain.pub"
SESSION = SessionId("0123456789ab")


def write_golden(folder: Path) -> None:
    """Write the chain, its payloads and its public key into a folder."""
    signer = Signer(bytes(range(32)))
    path = folder / CHAIN
    genesis = {"policy_digest": "sha256:" + "1" * 64, "image_digest": "sha256:" + "2" * 64}
    log = AuditLog.create(path, session=SESSION, genesis=genesis, signer=signer, clock=_clock(0))
    log.append("intent", {"call": "c1", "tool": "bash", "request": {"command": "ls 'ü\u202e'"}})
    log.append("outcome", {"call": "c1", "exit_code": 0, "ratio": 0.1, "big": 2**60})
    log.append("intent", {"call": "c2", "tool": "write", "content": "line\n" * 4_000})
    log.close()
    log = AuditLog.resume(path, session=SESSION, signer=signer, clock=_clock(100))
    for at in range(64):
        log.append("model_call", {"turn": at, "half": "\ud83d"})
    log.close()
    (folder / PUBLIC_KEY).write_text(f"{signer.public_key}\n", encoding="ascii")


def golden_files(folder: Path) -> dict[str, bytes]:
    """Return the files that ``write_golden`` makes, by their path below the folder."""
    files = [
        folder / CHAIN,
        folder / PUBLIC_KEY,
        *(folder / CHAIN).with_suffix(".payloads").iterdir(),
    ]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def _clock(start_s: int) -> Clock:
    ticks = count(start_s)
    begin = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    return Clock(now=lambda: begin + timedelta(seconds=next(ticks)), monotonic=lambda: 0.0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        write_golden(Path(scratch))
        for name, content in golden_files(Path(scratch)).items():
            target = HERE / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content)
            sys.stdout.write(f"{target}: {len(content)} bytes\n")
