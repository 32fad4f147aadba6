"""What may follow what, and that nothing can be changed unnoticed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.audit.chain import (
    CHECKPOINT,
    CLOSE,
    GENESIS,
    INTENT,
    NO_RECORD,
    OUTCOME,
    RECOVERED,
    RESUMED,
    BrokenChain,
    Head,
    Verdict,
    advance,
    checkpoint_statement,
    interrupted_calls,
    link,
    verify_chain,
)
from orchestrator.audit.entry import Record, decode_record, encode_record, seal
from orchestrator.audit.signer import Signer
from orchestrator.schema.ids import SessionId

SESSION = SessionId("0123456789ab")
SIGNER = Signer(bytes(range(32)))
TIME = "2026-01-02T03:04:05.000000Z"
BINDING = {"session": SESSION, "public_key": SIGNER.public_key}


class Chain:
    """A chain in memory that says what it is told to, true or not."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.head: Head | None = None

    def add(self, record_type: str, body: Mapping[str, Any] | None = None) -> Chain:
        record = link(
            self.head, session=SESSION, record_type=record_type, body=body or {}, time=TIME
        )
        self.head = advance(self.head, record)
        self.records.append(record)
        return self

    def sign(self, record_type: str, signer: Signer = SIGNER) -> Chain:
        assert self.head is not None
        statement = checkpoint_statement(self.head, final=record_type == CLOSE)
        return self.add(record_type, {"signature": signer.sign(statement)})

    @property
    def lines(self) -> list[bytes]:
        return [encode_record(record) + b"\n" for record in self.records]


def begun() -> Chain:
    return Chain().add(GENESIS, BINDING)


@cache
def closed_bytes() -> bytes:
    chain = begun()
    for call in ("c1", "c2"):
        chain.add(INTENT, {"call": call, "text": "a\u2028ü\n"}).add(OUTCOME, {"call": call})
        chain.sign(CHECKPOINT)
    return b"".join(chain.add("custom", {"n": 0.5}).sign(CLOSE).lines)


def verdict_of(data: bytes) -> Verdict:
    return verify_chain(_lines(data))


def _lines(data: bytes) -> list[bytes]:
    pieces = [piece + b"\n" for piece in data.split(b"\n")]
    pieces[-1] = pieces[-1][:-1]
    return [piece for piece in pieces if piece]


def test_closed_chain_is_intact_and_closed() -> None:
    """A signed close vouches for the whole."""
    verdict = verify_chain(_lines(closed_bytes()))

    assert str(verdict) == "intact, closed"
    assert verdict.head is not None
    assert verdict.head.signed_seq == verdict.head.seq - 1


def test_chain_without_close_is_open_and_names_its_unfinished_calls() -> None:
    """A crash is not a forgery, and says what it left in the air."""
    chain = begun().add(INTENT, {"call": "c1"}).add(OUTCOME, {"call": "c1"})
    chain.add(INTENT, {"call": "c2"})

    verdict = verify_chain(chain.lines)

    assert str(verdict) == "intact, open"
    assert verdict.interrupted == (("c2", 3),)


def test_empty_file_is_broken() -> None:
    """A chain without its first record proves nothing."""
    assert str(verify_chain([])) == "broken at seq 0: no record"


def test_torn_first_line_alone_is_broken() -> None:
    """Half a genesis binds nothing."""
    verdict = verify_chain([b'{"body":'])

    assert verdict.state == "broken"
    assert verdict.torn_bytes == 8


def test_torn_last_line_leaves_the_rest_open() -> None:
    """What was never acknowledged is reported, not counted."""
    lines = begun().add("custom").lines

    verdict = verify_chain([*lines[:-1], lines[-1][:-1]])

    assert str(verdict) == "intact, open"
    assert verdict.torn_bytes == len(lines[-1]) - 1
    assert verdict.head is not None
    assert verdict.head.seq == 0


def test_lost_line_feed_opens_a_closed_chain() -> None:
    """Even the last byte of a closed chain counts."""
    assert str(verify_chain(_lines(closed_bytes()[:-1]))) == "intact, open"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seq": 1}, "expected seq 0, got 1"),
        ({"type": "custom"}, "expected genesis first, got custom"),
        ({"prev": "sha256:" + "1" * 64}, "the first record names a predecessor"),
        ({"body": {**BINDING, "session": "other"}}, "genesis binds session other"),
        ({"body": {"session": SESSION}}, "genesis binds no public key"),
    ],
)
def test_bad_genesis_is_refused(change: Mapping[str, Any], why: str) -> None:
    """The first record binds session and key, and nothing comes before it."""
    fields = {
        "seq": 0,
        "time": TIME,
        "session": SESSION,
        "type": GENESIS,
        "body": BINDING,
        "prev": NO_RECORD,
        **change,
    }

    with pytest.raises(BrokenChain) as caught:
        advance(None, seal(fields))
    assert caught.value.why == why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seq": 2}, "expected seq 1, got 2"),
        ({"prev": NO_RECORD}, "prev is not the hash of the record before"),
        ({"session": "another"}, "belongs to session another"),
        ({"type": GENESIS}, "a second genesis"),
        ({"type": RESUMED}, "resumes a chain that was not closed"),
        ({"type": CHECKPOINT}, "the signature does not fit the chain and its key"),
        ({"type": CLOSE, "body": {"signature": 1}}, "the signature does not fit"),
        ({"type": RECOVERED, "body": {}}, "names other calls than were pending"),
    ],
)
def test_record_that_cannot_follow_is_refused(change: Mapping[str, Any], why: str) -> None:
    """Each record continues this very chain."""
    head = begun().head
    assert head is not None
    fields = {
        "seq": 1,
        "time": TIME,
        "session": SESSION,
        "type": "custom",
        "body": {},
        "prev": head.hash,
        **change,
    }

    with pytest.raises(BrokenChain, match=r"broken at seq \d") as caught:
        advance(head, seal(fields))
    assert caught.value.why.startswith(why)


def test_nothing_but_a_resumption_follows_a_close() -> None:
    """A signed end cannot be appended to in silence."""
    chain = begun().sign(CLOSE)

    with pytest.raises(BrokenChain, match="follows the close"):
        chain.add("custom")
    chain.add(RESUMED, {"interrupted": []}).sign(CLOSE)

    assert str(verify_chain(chain.lines)) == "intact, closed"


def test_checkpoint_of_another_key_is_refused() -> None:
    """Only the key that genesis binds signs this chain."""
    with pytest.raises(BrokenChain, match="the signature does not fit"):
        begun().sign(CHECKPOINT, Signer(bytes(32)))


def test_checkpoint_cannot_pass_for_a_close() -> None:
    """A signature says whether it is the end."""
    chain = begun()
    assert chain.head is not None
    signature = SIGNER.sign(checkpoint_statement(chain.head, final=False))

    with pytest.raises(BrokenChain, match="the signature does not fit"):
        chain.add(CLOSE, {"signature": signature})


def test_recovery_names_and_ends_the_interrupted_calls() -> None:
    """After a resumption the verdict still tells which calls were interrupted, once."""
    chain = begun().add(INTENT, {"call": "c1"}).add(INTENT, {"call": "c2"})
    assert chain.head is not None
    named = interrupted_calls(chain.head)
    assert named == [{"call": "c1", "intent": 1}, {"call": "c2", "intent": 2}]
    chain.add(RECOVERED, {"interrupted": named}).add(INTENT, {"call": "c3"})

    verdict = verify_chain(chain.lines)

    assert verdict.interrupted == (("c1", 1), ("c2", 2), ("c3", 4))


def test_records_of_other_types_end_no_call() -> None:
    """Only an outcome with the call's id answers an intent."""
    chain = begun().add(INTENT, {"call": "c1"})
    chain.add("approval", {"call": "c1"}).add(OUTCOME, {"call": "c2"}).add(OUTCOME, {})

    assert verify_chain(chain.lines).interrupted == (("c1", 1),)


def test_visitor_sees_each_record_and_can_break_the_chain() -> None:
    """Checks of files beside the chain report like the chain's own."""
    seen: list[int] = []

    def visit(record: Record) -> None:
        seen.append(record.seq)
        if record.seq == 2:
            raise BrokenChain(record.seq, "payload is missing")

    verdict = verify_chain(_lines(closed_bytes()), visit=visit)

    assert seen == [0, 1, 2]
    assert str(verdict) == "broken at seq 2: payload is missing"


@given(st.data())
def test_any_changed_byte_is_found(data: st.DataObject) -> None:
    """No byte of a closed chain can become another."""
    chain = closed_bytes()
    at = data.draw(st.integers(0, len(chain) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != chain[at]))

    assert verdict_of(chain[:at] + bytes([byte]) + chain[at + 1 :]).state != "closed"


@given(st.data())
def test_any_deleted_stretch_is_found(data: st.DataObject) -> None:
    """Bytes, lines, the beginning or the end: what is missing is missed."""
    chain = closed_bytes()
    start = data.draw(st.integers(0, len(chain) - 1))
    end = data.draw(st.integers(start + 1, len(chain)))

    assert verdict_of(chain[:start] + chain[end:]).state != "closed"


@given(st.integers(0, len(closed_bytes())), st.binary(min_size=1, max_size=40))
@example(len(closed_bytes()), b"\n")
@example(0, b" ")
def test_any_inserted_bytes_are_found(at: int, inserted: bytes) -> None:
    """Nothing can be slipped in, not even a blank."""
    chain = closed_bytes()

    assert verdict_of(chain[:at] + inserted + chain[at:]).state != "closed"


@given(st.permutations(range(len(_lines(closed_bytes())))))
def test_any_other_order_is_found(order: list[int]) -> None:
    """Records cannot change places."""
    lines = _lines(closed_bytes())
    same = order == sorted(order)

    assert (verify_chain([lines[at] for at in order]).state == "closed") == same


@given(st.integers(0, len(_lines(closed_bytes())) - 1))
def test_end_cut_between_records_shows_as_open(kept: int) -> None:
    """A cut end is all a chain alone cannot tell from a crash: it is never called closed."""
    verdict = verify_chain(_lines(closed_bytes())[:kept])

    assert verdict.state == ("open" if kept else "broken")


@given(st.integers(1, 6), st.sampled_from(["type", "time", "body"]))
def test_rewriter_without_the_key_is_found_before_the_last_signature(at: int, name: str) -> None:
    """Who recomputes all hashes still cannot sign: the next checkpoint gives it away."""
    records = [decode_record(line[:-1]) for line in _lines(closed_bytes())]
    forged: list[bytes] = []
    prev = NO_RECORD
    for record in records:
        fields = {
            "seq": record.seq,
            "time": record.time,
            "session": record.session,
            "type": record.type,
            "body": record.body,
            "prev": prev,
        }
        if record.seq == at:
            fields[name] = {"type": "other", "time": "2026", "body": {"x": 1}}[name]
        sealed = seal(fields)
        prev = sealed.hash
        forged.append(encode_record(sealed) + b"\n")

    assert verify_chain(forged).state == "broken"


def test_lines_are_json_for_everyone() -> None:
    """Any JSON reader can follow the chain."""
    prev = NO_RECORD
    for seq, line in enumerate(_lines(closed_bytes())):
        data = json.loads(line)
        assert (data["seq"], data["prev"]) == (seq, prev)
        prev = data["hash"]
