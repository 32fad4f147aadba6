"""Applying and discarding, recorded in the session's own chain."""

import json

import anyio
import pytest

from orchestrator.audit.chain import verify_chain
from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.errors import AuditUnavailable
from orchestrator.harness.applying import MOST_PATHS, apply_recorded, discard_recorded
from orchestrator.workspace.plan import Selection
from tests.support.workspaces import Desk

pytestmark = pytest.mark.docker


@pytest.fixture
def desk(engine, paths, project):
    made = Desk(engine, paths, project)
    yield made
    made.clean()


def begin_chain(paths, workspace):
    """Leave a closed chain, as a run does."""
    session = workspace.site.record.session
    audit = AuditLog.create(
        paths.audit_log(session), session=session, genesis={}, signer=Signer.load(paths.keys)
    )
    audit.close()
    return session


def records(paths, session):
    return [json.loads(line) for line in paths.audit_log(session).read_bytes().splitlines()]


def apply(desk, workspace):
    changes = desk.look(workspace)
    return anyio.run(lambda: apply_recorded(workspace, changes, Selection(), paths=desk.paths))


def test_apply_is_announced_and_reported_in_the_chain(desk, paths, project):
    """Intent with its paths, then what was applied; the chain is closed again."""
    workspace = desk.work("echo x > made; rm notes.txt")
    session = begin_chain(paths, workspace)

    applied = apply(desk, workspace)

    found = {record["type"]: record["body"] for record in records(paths, session)}
    assert applied.complete
    assert (project / "made").read_text() == "x\n"
    assert sorted(found["apply_intent"]["paths"]) == ["made", "notes.txt"]
    assert (found["apply_intent"]["count"], found["apply_outcome"]["applied"]) == (2, 2)
    lines = paths.audit_log(session).read_bytes().splitlines(keepends=True)
    assert str(verify_chain(lines)) == "intact, closed"


def test_session_without_a_chain_applies_nothing(desk, project):
    """No record, no action; the hint tells how to get at the changes."""
    workspace = desk.work("echo x > made")

    with pytest.raises(AuditUnavailable) as caught:
        apply(desk, workspace)

    assert "glovebox diff" in caught.value.hint
    assert not (project / "made").exists()


def test_chain_that_another_process_writes_applies_nothing(desk, paths, project):
    """The run is still going on."""
    workspace = desk.work("echo x > made")
    session = begin_chain(paths, workspace)
    other = AuditLog.resume(
        paths.audit_log(session), session=session, signer=Signer.load(paths.keys)
    )
    try:
        with pytest.raises(AuditUnavailable):
            apply(desk, workspace)
    finally:
        other.close()

    assert not (project / "made").exists()


def test_many_paths_are_told_as_a_count(desk, paths):
    """A record stays readable."""
    workspace = desk.work(f"mkdir d; for n in $(seq {MOST_PATHS + 20}); do echo > d/$n; done")
    session = begin_chain(paths, workspace)

    apply(desk, workspace)

    body = next(r["body"] for r in records(paths, session) if r["type"] == "apply_intent")
    assert len(body["paths"]) == MOST_PATHS
    assert body["count"] == MOST_PATHS + 20


def test_discard_is_recorded(desk, paths, project):
    """What was thrown away leaves a trace."""
    workspace = desk.work("echo x > made")
    session = begin_chain(paths, workspace)

    anyio.run(lambda: discard_recorded(workspace, session, paths=paths))

    kinds = [record["type"] for record in records(paths, session)]
    assert "discard" in kinds
    assert not workspace.site.folder.exists()
    assert not (project / "made").exists()
