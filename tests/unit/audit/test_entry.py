"""A record's bytes are canonical, and only canonical bytes are a record."""

import hashlib
import json
import math
from datetime import datetime, timedelta, timezone
from enum import IntEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.audit.entry import (
    Record,
    decode_record,
    encode_record,
    plain_body,
    seal,
    timestamp,
)
from orchestrator.errors import AuditError

UNSEALED = {
    "seq": 3,
    "time": "2026-01-02T03:04:05.000000Z",
    "session": "0123456789ab",
    "type": "intent",
    "body": {"b": 1, "a": "ü\u2028"},
    "prev": "sha256:" + "0" * 64,
}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats()
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def line_of(**changes: object) -> bytes:
    record = {**UNSEALED, "hash": seal(UNSEALED).hash, **changes}
    return json.dumps(record, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def test_record_reads_back_as_it_was_written() -> None:
    """Encoding and decoding are inverse."""
    record = seal(UNSEALED)

    assert decode_record(encode_record(record)) == record


def test_hash_is_over_canonical_bytes_without_the_hash() -> None:
    """Anyone with an RFC 8785 library and SHA-256 gets the same hash."""
    canonical = (
        '{"body":{"a":"ü\u2028","b":1},"prev":"sha256:' + "0" * 64 + '","seq":3,'
        '"session":"0123456789ab","time":"2026-01-02T03:04:05.000000Z","type":"intent"}'
    )
    expected = "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

    assert seal(UNSEALED).hash == expected


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "Expecting value"),
        (b"[]", "expected a JSON object"),
        (b"\xff", "not a record"),
        (b"[" * 100_000, "not a record"),
        (b'{"seq":NaN}', "NaN is not JSON"),
        (b"{}", "expected the fields"),
        (line_of(extra=1), "expected the fields"),
        (line_of(seq=True), "seq: expected int, got bool"),
        (line_of(seq=3.0), "seq: expected int, got float"),
        (line_of(body=[]), "body: expected dict, got list"),
        (line_of(prev="sha256:00"), "prev: expected sha256:"),
        (line_of(hash=1), "hash: expected sha256:"),
        (line_of(hash="sha256:" + "0" * 64), "the hash does not fit"),
        (line_of(type="outcome"), "the hash does not fit"),
        (line_of().replace(b'"seq":3', b'"seq": 3'), "not in canonical form"),
        (line_of().replace("ü".encode(), b"\\u00fc"), "not in canonical form"),
    ],
)
def test_line_that_is_no_record_is_refused_with_the_reason(line: bytes, why: str) -> None:
    """A record has one spelling; every other one is found and named."""
    with pytest.raises(ValueError, match=why):
        decode_record(line)


def test_line_with_half_a_surrogate_pair_is_refused() -> None:
    """Text that no UTF-8 can carry is no canonical JSON."""
    with pytest.raises(ValueError, match="non-UTF-8"):
        decode_record(line_of().replace(b'"b":1', b'"b":"\\ud83d"'))


def test_line_with_integer_beyond_double_is_refused() -> None:
    """A number that another reader would round is no canonical JSON."""
    with pytest.raises(ValueError, match="exceeds safe integer"):
        decode_record(line_of().replace(b'"b":1', b'"b":9007199254740993'))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**53, "9007199254740992"),
        (-(2**60), "-1152921504606846976"),
        (1e300, "1e+300"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        (0.1, 0.1),
        (True, True),
        (None, None),
        ("half \ud83d", "half \\ud83d"),
        (("a", ["b"]), ["a", ["b"]]),
        ({"k\udc00": 1}, {"k\\udc00": 1}),
        (IntEnum("Word", {"ONE": 1}).ONE, 1),
    ],
)
def test_value_becomes_what_survives_a_round_trip(value: object, plain: object) -> None:
    """What JSON cannot carry exactly is kept as its text."""
    assert plain_body({"v": value}) == {"v": plain}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"p": Path("/x")}, r"audit body\.p: expected JSON data, got PosixPath"),
        ({"p": b"x"}, r"audit body\.p: expected JSON data, got bytes"),
        ({"p": [0, {1}]}, r"audit body\.p\[1\]: expected JSON data, got set"),
        ({1: "x"}, "audit body: expected text keys, got int"),
        ({"\ud83d": 1, "\\ud83d": 2}, "audit body: two keys read"),
    ],
)
def test_body_that_is_no_json_is_refused_with_its_place(body: dict[str, object], why: str) -> None:
    """What cannot be recorded is not guessed at."""
    with pytest.raises(AuditError, match=why):
        plain_body(body)


def test_body_nested_too_deep_is_refused() -> None:
    """A bottomless body cannot exhaust the writer's stack."""
    body: dict[str, object] = {}
    for _ in range(100):
        body = {"inner": body}

    with pytest.raises(AuditError, match="nested deeper than 64"):
        plain_body(body)


def test_time_is_utc_with_microseconds() -> None:
    """Records of any time zone sort as text."""
    moment = datetime(2026, 1, 2, 3, 0, tzinfo=timezone(timedelta(hours=2)))

    assert timestamp(moment) == "2026-01-02T01:00:00.000000Z"


@given(st.dictionaries(st.text(), JSON))
def test_any_json_body_survives(body: dict[str, object]) -> None:
    """Whatever a body holds, its record verifies when read back."""
    record = seal({**UNSEALED, "body": plain_body(body)})
    line = encode_record(record)

    assert encode_record(decode_record(line)) == line
    assert isinstance(record, Record)
