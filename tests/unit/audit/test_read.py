"""Reading a chain's records with their payloads."""

import pytest

from orchestrator.audit.log import AuditLog
from orchestrator.audit.read import read_bodies
from orchestrator.audit.signer import Signer
from orchestrator.errors import AuditError
from orchestrator.schema.ids import SessionId


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "audit" / "0123456789ab.jsonl"
    signer = Signer.load(tmp_path / "keys")
    log = AuditLog.create(path, session=SessionId("0123456789ab"), genesis={}, signer=signer)
    log.append("intent", {"call": "c", "big": "x" * 40_000})
    log.close()
    return path


def test_moved_fields_are_back_in_place(chain):
    """Whoever reads need not know that they were moved."""
    bodies = {kind: body for _, kind, body in read_bodies(chain)}

    assert bodies["intent"] == {"call": "c", "big": "x" * 40_000}


def test_torn_line_is_left_out(chain):
    """It was never acknowledged."""
    whole = list(read_bodies(chain))
    with chain.open("ab") as file:
        file.write(b'{"torn')

    assert list(read_bodies(chain)) == whole


def test_broken_chain_is_refused(chain):
    """What may be forged proves nothing."""
    chain.write_bytes(chain.read_bytes().replace(b'"c"', b'"d"', 1))

    with pytest.raises(AuditError, match="broken at seq 1"):
        list(read_bodies(chain))
