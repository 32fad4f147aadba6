"""The chain's rules, pure: what may follow what, and what a whole chain says.

``advance`` is the only judge: the writer runs each record through it before writing, the verifier
after reading, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from orchestrator.audit.entry import Record, decode_record, seal
from orchestrator.audit.signer import Statement, is_signed_by
from orchestrator.schema.ids import Digest, SessionId

NO_RECORD = Digest("sha256:" + "0" * 64)
"""What the first record names as its predecessor."""

GENESIS = "genesis"
CHECKPOINT = "checkpoint"
CLOSE = "close"
RECOVERED = "recovered"
RESUMED = "resumed"
INTENT = "intent"
OUTCOME = "outcome"

CONTINUATIONS = frozenset({RECOVERED, RESUMED})
"""What a resumed session writes first: after an open chain the one, after a close the other."""

OWN_TYPES = frozenset({GENESIS, CHECKPOINT, CLOSE}) | CONTINUATIONS
"""Types that only the log itself writes."""

ChainState = Literal["closed", "open", "broken"]


class BrokenChain(Exception):  # noqa: N818 - reads as what it is
    """Raised when a record cannot stand where it stands."""

    def __init__(self, seq: int, why: str) -> None:
        """Name the first bad record."""
        super().__init__(f"broken at seq {seq}: {why}")
        self.seq = seq
        self.why = why


Visit = Callable[[Record], None]


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain stands; the next record is judged against it."""

    session: SessionId
    public_key: str
    seq: int
    hash: Digest
    closed: bool = False
    signed_seq: int = -1
    """The last record that a good signature covers; later ones are only chained."""
    pending: Mapping[str, int] = field(default_factory=dict)
    """Calls with an intent and no outcome, and the intent's seq."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a chain says of itself."""

    state: ChainState
    head: Head | None
    broken_at: int | None = None
    why: str = ""
    interrupted: tuple[tuple[str, int], ...] = ()
    """Calls that a continuation or the open end names, with their intents' seq."""
    torn_bytes: int = 0
    """Length of an unfinished last line, which was never acknowledged."""

    def __str__(self) -> str:
        """Return the verdict's one line."""
        if self.state == "broken":
            return f"broken at seq {self.broken_at}: {self.why}"
        return f"intact, {self.state}"


def advance(head: Head | None, record: Record) -> Head:
    """Return the head after the record; raises BrokenChain when it cannot follow."""
    if head is None:
        return _begin(record)
    _require(record, record.seq == head.seq + 1, f"expected seq {head.seq + 1}, got {record.seq}")
    _require(record, record.prev == head.hash, "prev is not the hash of the record before")
    _require(record, record.session == head.session, f"belongs to session {record.session}")
    _require(record, record.type != GENESIS, "a second genesis")
    _require(
        record,
        head.closed == (record.type == RESUMED),
        "follows the close" if head.closed else "resumes a chain that was not closed",
    )
    signed_seq, pending = head.signed_seq, head.pending
    if record.type in {CHECKPOINT, CLOSE}:
        _check_signature(head, record)
        signed_seq = head.seq
    else:
        pending = _pending_after(head, record)
    return replace(
        head,
        seq=record.seq,
        hash=record.hash,
        closed=record.type == CLOSE,
        signed_seq=signed_seq,
        pending=pending,
    )


def link(
    head: Head | None, *, session: SessionId, record_type: str, body: Mapping[str, Any], time: str
) -> Record:
    """Return the record that continues the chain at ``head``."""
    return seal(
        {
            "seq": 0 if head is None else head.seq + 1,
            "time": time,
            "session": session,
            "type": record_type,
            "body": body,
            "prev": NO_RECORD if head is None else head.hash,
        }
    )


def verify_chain(lines: Iterable[bytes], *, visit: Visit | None = None) -> Verdict:
    """Judge a chain from its lines, each with its line feed; the last may lack it (torn).

    ``visit`` sees each record that holds so far, and may raise BrokenChain on grounds of its own.
    """
    head: Head | None = None
    interrupted: list[tuple[str, int]] = []
    for at, line in enumerate(lines):
        if not line.endswith(b"\n"):
            return _verdict(head, interrupted, torn_bytes=len(line))
        try:
            record = _decode(line[:-1], at)
            before = {} if head is None else head.pending
            head = advance(head, record)
            if visit is not None:
                visit(record)
        except BrokenChain as broken:
            return Verdict("broken", head, broken.seq, broken.why, tuple(interrupted))
        if record.type in CONTINUATIONS:
            interrupted += before.items()
    return _verdict(head, interrupted)


def checkpoint_statement(head: Head, *, final: bool) -> Statement:
    """Return what a checkpoint right after ``head`` must sign."""
    return Statement(session=head.session, seq=head.seq, head=head.hash, final=final)


def interrupted_calls(head: Head) -> list[dict[str, Any]]:
    """Return the pending calls as a continuation names them."""
    return [{"call": call, "intent": seq} for call, seq in head.pending.items()]


def _begin(record: Record) -> Head:
    _require(record, record.seq == 0, f"expected seq 0, got {record.seq}")
    _require(record, record.type == GENESIS, f"expected genesis first, got {record.type}")
    _require(record, record.prev == NO_RECORD, "the first record names a predecessor")
    bound = record.body.get("session")
    _require(record, bound == record.session, f"genesis binds session {bound}")
    key = record.body.get("public_key")
    if not isinstance(key, str):
        raise BrokenChain(record.seq, "genesis binds no public key")
    return Head(session=record.session, public_key=key, seq=0, hash=record.hash)


def _check_signature(head: Head, record: Record) -> None:
    statement = checkpoint_statement(head, final=record.type == CLOSE)
    good = is_signed_by(head.public_key, statement, record.body.get("signature"))
    _require(record, good, "the signature does not fit the chain and its key")


def _pending_after(head: Head, record: Record) -> Mapping[str, int]:
    if record.type in CONTINUATIONS:
        named = record.body.get("interrupted")
        _require(record, named == interrupted_calls(head), "names other calls than were pending")
        return {}
    call = record.body.get("call")
    if not isinstance(call, str) or record.type not in {INTENT, OUTCOME}:
        return head.pending
    rest = {name: seq for name, seq in head.pending.items() if name != call}
    return {**rest, call: record.seq} if record.type == INTENT else rest


def _decode(line: bytes, at: int) -> Record:
    try:
        return decode_record(line)
    except ValueError as err:
        raise BrokenChain(at, str(err)) from err


def _verdict(
    head: Head | None, interrupted: list[tuple[str, int]], *, torn_bytes: int = 0
) -> Verdict:
    if head is None:
        return Verdict("broken", None, 0, "no record", torn_bytes=torn_bytes)
    closed = head.closed and not torn_bytes
    calls = (*interrupted, *head.pending.items())
    return Verdict("closed" if closed else "open", head, interrupted=calls, torn_bytes=torn_bytes)


def _require(record: Record, holds: bool, why: str) -> None:
    if not holds:
        raise BrokenChain(record.seq, why)
