"""Large parts of a body leave the chain whole, under their digest."""

import hashlib
import json
import stat
from pathlib import Path

import pytest

from orchestrator.audit.payload import (
    MAX_BODY,
    move_out,
    payload_path,
    references,
    store_payload,
)
from orchestrator.errors import AuditError, AuditUnavailable
from orchestrator.schema.ids import Digest, digest_of


def test_small_body_stays_as_it_is() -> None:
    """Nothing is moved without need."""
    assert move_out({"a": "x" * 1000}) == ({"a": "x" * 1000}, {})


def test_large_field_moves_out_under_its_digest() -> None:
    """The chain keeps who and what; the bulk is bound by its digest and size."""
    text = "x" * 20_000

    kept, payloads = move_out({"call": "c1", "content": text})

    data = json.dumps(text).encode()
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    assert kept == {
        "call": "c1",
        "payloads": {"content": {"digest": digest, "bytes": len(data)}},
    }
    assert payloads == {digest: data}
    assert references(kept) == {"content": digest}


def test_largest_fields_move_first_until_the_rest_fits() -> None:
    """Small fields stay readable in the chain."""
    body = {"a": "a" * 9_000, "b": "b" * 12_000, "c": "c" * 1_000}

    kept, payloads = move_out(body)

    assert kept["a"] == body["a"]
    assert kept["c"] == body["c"]
    assert list(references(kept)) == ["b"]
    assert len(payloads) == 1


def test_several_large_fields_all_move_out() -> None:
    """A record never grows past its limit."""
    kept, payloads = move_out({"a": "a" * 20_000, "b": "b" * 30_000, "c": 1})

    assert set(references(kept)) == {"a", "b"}
    assert len(payloads) == 2
    assert kept["c"] == 1


def test_body_of_too_many_fields_is_refused() -> None:
    """What cannot be recorded is refused, not cut."""
    with pytest.raises(AuditError, match="2000 fields are too many"):
        move_out({f"field{at}": at for at in range(2000)})


def test_body_cannot_pose_as_a_reference() -> None:
    """Only the log itself names payloads."""
    with pytest.raises(AuditError, match="the name is reserved"):
        move_out({"payloads": {}})


@pytest.mark.parametrize(
    "named",
    [
        [],
        "x",
        {"a": 1},
        {"a": {}},
        {"a": {"digest": "sha256:../../etc/passwd"}},
        {"a": {"digest": 7}},
    ],
)
def test_reference_that_is_no_digest_is_refused(named: object) -> None:
    """A chain from elsewhere cannot lead the verifier to other files."""
    with pytest.raises(ValueError, match="payloads"):
        references({"payloads": named})


def test_body_without_payloads_names_none() -> None:
    """Most records have none."""
    assert references({"call": "c1"}) == {}


def test_payload_is_stored_beside_the_chain_for_the_owner_alone(tmp_path: Path) -> None:
    """The file is named by its digest, and storing it twice is one file."""
    chain = tmp_path / "abc.jsonl"
    digest = digest_of(b"data")

    store_payload(chain, digest, b"data")
    store_payload(chain, digest, b"data")

    path = payload_path(chain, digest)
    assert path == tmp_path / "abc.payloads" / digest.removeprefix("sha256:")
    assert path.read_bytes() == b"data"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(list(path.parent.iterdir())) == 1


def test_payload_that_cannot_be_stored_stops_the_record(tmp_path: Path) -> None:
    """No payload, no record, no action."""
    (tmp_path / "abc.payloads").write_bytes(b"in the way")

    with pytest.raises(AuditUnavailable, match="the payload cannot be written"):
        store_payload(tmp_path / "abc.jsonl", Digest("sha256:" + "0" * 64), b"data")


def test_limit_is_sixteen_kibibytes() -> None:
    """The documented limit."""
    assert MAX_BODY == 16 * 1024
