"""The writer of a chain: a record is on disk when ``append`` returns, or nothing may happen.

``append_soon`` waits for the kernel alone, for records that come by the thousand: they outlive this
process, and within a second the machine.

``append`` blocks for one fsync; call it from a worker thread where that matters. Bodies are
expected redacted: what is hashed here stays.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator.audit import chain
from orchestrator.audit.chain import Head, advance, checkpoint_statement, link, verify_chain
from orchestrator.audit.entry import Record, encode_record, plain_body, plain_text, timestamp
from orchestrator.audit.files import ChainFile
from orchestrator.audit.payload import MAX_BODY, REFERENCES, move_out, store_payload
from orchestrator.audit.signer import Signer
from orchestrator.errors import AuditError
from orchestrator.schema.ids import Digest, SessionId, digest_of

FORMAT_VERSION = 1

CHECKPOINT_RECORDS = 64
CHECKPOINT_SECONDS = 5.0

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Clock:
    """Where times come from: the wall for records, the monotonic one for waiting."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic


_SYSTEM_CLOCK = Clock()


class AuditLog:
    """One session's chain, open for its one writer. Safe to share between threads."""

    def __init__(
        self,
        file: ChainFile,
        signer: Signer,
        *,
        session: SessionId,
        head: Head | None,
        clock: Clock,
    ) -> None:
        """Take over a locked file that ends at ``head``; use ``create`` or ``resume``."""
        self._file = file
        self._signer = signer
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._head = head
        self._unsigned = 0
        self._unsigned_since = 0.0

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        session: SessionId,
        genesis: Mapping[str, Any],
        signer: Signer,
        clock: Clock = _SYSTEM_CLOCK,
    ) -> AuditLog:
        """Begin a chain; ``genesis`` holds the policy's and the image's digest and what else binds."""
        bound = {
            **plain_body(genesis),
            "version": FORMAT_VERSION,
            "session": session,
            "public_key": signer.public_key,
        }
        file = ChainFile.create(path)
        try:
            log = cls(file, signer, session=session, head=None, clock=clock)
            log._write([(chain.GENESIS, bound)])
            file.sync()
        except BaseException:
            file.abandon()
            raise
        return log

    @classmethod
    def resume(
        cls, path: Path, *, session: SessionId, signer: Signer, clock: Clock = _SYSTEM_CLOCK
    ) -> AuditLog:
        """Continue a chain that holds; its first new record names the calls that were interrupted."""
        file = ChainFile.open(path)
        try:
            head, torn = _take_up(file, session=session, signer=signer)
            log = cls(file, signer, session=session, head=head, clock=clock)
            body = {"interrupted": chain.interrupted_calls(head), **torn}
            log._write([(chain.RESUMED if head.closed else chain.RECOVERED, body)])
            file.sync()
        except BaseException:
            file.close()
            raise
        return log

    @property
    def head(self) -> Head:
        """Where the chain stands; kept elsewhere, it makes a cut end detectable."""
        if self._head is None:
            raise AuditError(f"{self._file.path}: the chain has no record yet")
        return self._head

    def append(self, record_type: str, body: Mapping[str, Any]) -> int:
        """Return the record's seq when it is on disk; raises AuditUnavailable otherwise."""
        return self.append_all([(record_type, body)])[0]

    def append_all(self, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
        """Return the seqs of records, in order, when all are on disk, for the price of one.

        Raises as ``append`` does; then none of them is in the chain.
        """
        seqs = self._append(entries)
        if seqs:
            self._file.sync()
        return seqs

    def append_soon(self, record_type: str, body: Mapping[str, Any]) -> int:
        """Return the record's seq when the kernel has it; ``sync`` brings it to disk.

        Raises as ``append`` does; a later failure to bring it to disk ends the log.
        """
        return self._append([(record_type, body)])[0]

    def sync(self) -> None:
        """Return when every record so far is on disk; raises AuditUnavailable otherwise."""
        self._file.sync()

    def checkpoint_due(self) -> bool:
        """Sign the chain if records have waited for 5 s; say whether that was so.

        All records are on disk after it, in either case.
        """
        with self._lock:
            due = self._is_due(self._unsigned)
            if due:
                self._sign(chain.CHECKPOINT)
        self._file.sync()
        return due

    def close(self) -> None:
        """Sign the end and give the file up; a second time does nothing."""
        with self._lock:
            if self._file.is_closed:
                return
            try:
                self._sign(chain.CLOSE)
                self._file.sync()
            finally:
                self._file.close()

    def _append(self, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
        if not entries:
            return []
        small = [self._entry(record_type, body) for record_type, body in entries]
        with self._lock:
            self._file.require_open()
            for _, _, payloads in small:
                for digest, data in payloads.items():
                    store_payload(self._file.path, digest, data)
            return self._write([(record_type, body) for record_type, body, _ in small])

    def _entry(
        self, record_type: str, body: Mapping[str, Any]
    ) -> tuple[str, Mapping[str, Any], Mapping[Digest, bytes]]:
        if record_type in chain.OWN_TYPES or not _TYPE.fullmatch(record_type):
            raise AuditError(f"audit type {record_type!r}: expected a free lower-case word")
        text = plain_text(body)
        if text is not None and len(text) <= MAX_BODY and REFERENCES not in body:
            return record_type, dict(body), {}
        return (record_type, *move_out(plain_body(body)))

    def _write(self, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
        records: list[Record] = []
        head = self._head
        for record_type, body in entries:
            records.append(self._link(head, record_type, body))
            head = advance(head, records[-1])
        seqs = [record.seq for record in records]
        if head is not None and self._is_due(self._unsigned + len(records)):
            records.append(self._checkpoint(head, chain.CHECKPOINT))
            head = advance(head, records[-1])
        self._put(records, head)
        return seqs

    def _put(self, records: list[Record], head: Head | None) -> None:
        """Write records; ``head`` is where ``advance`` came by them."""
        self._file.write(b"".join(encode_record(record) + b"\n" for record in records))
        self._head = head
        if records[-1].type in {chain.CHECKPOINT, chain.CLOSE}:
            self._unsigned = 0
        else:
            self._unsigned_since = (
                self._unsigned_since if self._unsigned else self._clock.monotonic()
            )
            self._unsigned += len(records)

    def _sign(self, record_type: str) -> None:
        record = self._checkpoint(self.head, record_type)
        self._put([record], advance(self.head, record))

    def _is_due(self, unsigned: int) -> bool:
        if unsigned >= CHECKPOINT_RECORDS:
            return True
        waited = self._clock.monotonic() - self._unsigned_since
        return self._unsigned > 0 and waited >= CHECKPOINT_SECONDS

    def _checkpoint(self, head: Head, record_type: str) -> Record:
        statement = checkpoint_statement(head, final=record_type == chain.CLOSE)
        body = {"seq": head.seq, "head": head.hash, "signature": self._signer.sign(statement)}
        return self._link(head, record_type, body)

    def _link(self, head: Head | None, record_type: str, body: Mapping[str, Any]) -> Record:
        return link(
            head,
            session=self._session,
            record_type=record_type,
            body=body,
            time=timestamp(self._clock.now()),
        )


def _take_up(file: ChainFile, *, session: SessionId, signer: Signer) -> tuple[Head, dict[str, Any]]:
    """Return the head of a chain that may go on, and what a torn last line held."""
    lines = file.lines()
    verdict = verify_chain(lines)
    if verdict.head is None or verdict.state == "broken":
        raise AuditError(
            f"{file.path}: {verdict}",
            hint="a chain that does not hold is never continued; keep it, and start a new session",
        )
    if verdict.head.session != session:
        raise AuditError(f"{file.path}: expected session {session}, got {verdict.head.session}")
    if verdict.head.public_key != signer.public_key:
        raise AuditError(
            f"{file.path}: the chain is signed by another key than this machine's",
            hint="bring back the key of the keys folder, or start a new session",
        )
    if not verdict.torn_bytes:
        return verdict.head, {}
    digest = digest_of(lines[-1])
    store_payload(file.path, digest, lines[-1])
    file.cut_tail(verdict.torn_bytes)
    return verdict.head, {REFERENCES: {"torn": {"digest": digest, "bytes": verdict.torn_bytes}}}
