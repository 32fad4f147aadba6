"""What a record costs: an audited append against a bare write and fsync of the same bytes.

Run: ``python -m benchmarks.audit``. The two take turns on the same disk, so that its moods hit both;
the ratio is ours, the milliseconds are the disk's. Redaction's speed is shown with it.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.audit.verify import verify_file
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.ids import SessionId

APPENDS = 400
SESSION = SessionId("0123456789ab")
BODY = {
    "call": "toolu_01ABCDEFGH",
    "tool": "bash",
    "request": {"kind": "exec", "command": "make test 2>&1 | tail -50", "cwd": "/workspace"},
    "decision": {"effect": "allow", "rule": "default", "layer": "session", "reason": "allowed"},
}


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        measure_appends(Path(folder))
    measure_redaction()


def measure_appends(folder: Path) -> None:
    """Compare appends with bare writes, and time a verification of the result."""
    path = folder / "chain.jsonl"
    log = AuditLog.create(path, session=SESSION, genesis={}, signer=Signer(bytes(32)))
    line = b"x" * 620 + b"\n"
    bare = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    audited_ms, bare_ms = [], []
    for _ in range(APPENDS):
        audited_ms.append(timed(lambda: log.append("intent", BODY)))
        bare_ms.append(timed(lambda: (os.write(bare, line), os.fsync(bare))))
    log.close()
    os.close(bare)
    audited, plain = statistics.median(audited_ms), statistics.median(bare_ms)
    print(f"append p50 {audited:.3f} ms, bare write+fsync p50 {plain:.3f} ms", end=", ")
    print(f"ratio {audited / plain:.2f}")
    verify_ms = timed(lambda: verify_file(path))
    records = path.read_bytes().count(b"\n")
    print(
        f"verify {records} records: {verify_ms:.1f} ms ({verify_ms / records * 1000:.0f} µs each)"
    )


def measure_redaction() -> None:
    """Time a full-size tool result and ten megabytes of source text."""
    source = Path(__file__).read_text("utf-8")
    known = {"provider": "kQ7-" + "xY3z" * 10, "other": "m4" * 20}
    for size in (50_000, 10_000_000):
        text = (source * (size // len(source) + 1))[:size]
        redactor = Redactor(known, key=bytes(32))
        took = timed(lambda redactor=redactor, text=text: redactor.redact(text))
        print(f"redact {size:>10,} characters: {took:,.1f} ms")


def timed(act: Callable[[], object]) -> float:
    """Return how long an act took, in milliseconds."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
