"""Verification on disk: the right key, and every payload in place."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.audit.chain import GENESIS as FIRST
from orchestrator.audit.chain import NO_RECORD
from orchestrator.audit.entry import encode_record, seal
from orchestrator.audit.log import AuditLog
from orchestrator.audit.payload import payload_folder
from orchestrator.audit.signer import Signer
from orchestrator.audit.verify import verify_file
from orchestrator.errors import AuditError

from .conftest import SESSION

Make = Callable[[], AuditLog]


@pytest.fixture
def payload(create: Make, path: Path) -> Path:
    """A closed chain's one payload file."""
    log = create()
    log.append("intent", {"call": "c1", "content": "x" * 50_000})
    log.close()
    (file,) = payload_folder(path).iterdir()
    return file


def test_chain_with_its_payloads_is_closed(payload: Path, path: Path) -> None:
    """All that was recorded is there."""
    assert payload.exists()
    assert str(verify_file(path)) == "intact, closed"


def test_missing_payload_breaks_the_chain(payload: Path, path: Path) -> None:
    """Deleting the bulk is deleting evidence."""
    payload.unlink()

    verdict = verify_file(path)

    assert verdict.broken_at == 1
    assert "payload content" in verdict.why
    assert verdict.why.endswith("is missing")


def test_changed_payload_breaks_the_chain(payload: Path, path: Path) -> None:
    """The digest binds every byte."""
    payload.write_bytes(payload.read_bytes()[:-1] + b"y")

    assert "is not the one recorded" in verify_file(path).why


def test_payload_behind_a_link_or_pipe_does_not_count(payload: Path, path: Path) -> None:
    """The verifier follows nothing and waits for nobody."""
    content = payload.rename(payload.with_name("moved"))
    payload.symlink_to(content)
    assert verify_file(path).why.endswith("is missing")

    payload.unlink()
    os.mkfifo(payload)
    assert verify_file(path).why.endswith("is missing")


def test_copied_chain_can_be_verified_without_payloads(payload: Path, path: Path) -> None:
    """The chain alone can be handed on."""
    payload.unlink()

    assert str(verify_file(path, payloads=False)) == "intact, closed"


def test_chain_of_the_pinned_key_is_intact(create: Make, path: Path, signer: Signer) -> None:
    """A pin that fits changes nothing."""
    create().close()

    assert str(verify_file(path, key=signer.public_key)) == "intact, closed"


def test_chain_of_another_key_is_broken(create: Make, path: Path) -> None:
    """A chain that someone else signed from its beginning is not ours."""
    create().close()

    verdict = verify_file(path, key=Signer(bytes(32)).public_key)

    assert verdict.broken_at == 0
    assert "another key" in verdict.why


def test_reference_that_is_no_digest_breaks_the_chain(path: Path, signer: Signer) -> None:
    """A hostile chain cannot make the verifier open other files."""
    body = {"session": SESSION, "public_key": signer.public_key, "payloads": {"a": {"digest": "/"}}}
    fields = {"seq": 0, "time": "", "session": SESSION, "type": FIRST, "body": body}
    path.parent.mkdir()
    path.write_bytes(encode_record(seal({**fields, "prev": NO_RECORD})) + b"\n")

    assert verify_file(path).why == "payloads.a: expected sha256: and 64 hex digits"


def test_missing_chain_is_an_error(tmp_path: Path) -> None:
    """No file is no verdict."""
    with pytest.raises(AuditError, match="cannot be read"):
        verify_file(tmp_path / "none.jsonl")


def test_payload_path_that_cannot_be_opened_is_an_error(payload: Path, path: Path) -> None:
    """The verifier's own trouble is not called tampering (a socket cannot be opened)."""
    payload.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        directory = os.open(payload.parent, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{directory}/{payload.name}")
        os.close(directory)

    with pytest.raises(AuditError, match="cannot be read"):
        verify_file(path)
