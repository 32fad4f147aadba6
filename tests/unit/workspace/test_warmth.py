"""A workspace that waited becomes a session's own only while it still fits the host."""

import pytest

from orchestrator.engine.lease import Lease
from orchestrator.errors import WorkspaceError
from orchestrator.workspace.pending import waiting_sessions
from orchestrator.workspace.record import LEASE, load_record
from orchestrator.workspace.warmth import is_unclaimed, remove_unclaimed, settle_in
from tests.support.workspaces import write

pytestmark = pytest.mark.docker


@pytest.fixture
def warm(desk):
    """Prepare one, and hold its lease."""
    workspace, _ = desk.begin(warm=True)
    lease = Lease.take(workspace.site.folder / LEASE)
    yield workspace, lease
    lease.close()


def test_settled_workspace_is_a_sessions_own(desk, warm):
    """It counts as begun now, and is offered like any other."""
    workspace, _ = warm
    before = workspace.site.record
    assert waiting_sessions(desk.paths, desk.project) == []
    assert is_unclaimed(before.session, paths=desk.paths)

    own = settle_in(before.session, paths=desk.paths, engine=desk.engine).site.record

    assert (own.warm, own.started_ns > before.started_ns) == (False, True)
    assert load_record(workspace.site.folder) == own
    assert not is_unclaimed(before.session, paths=desk.paths)
    assert waiting_sessions(desk.paths, desk.project) == [before.session]


def test_settled_workspace_is_not_settled_again(desk, warm):
    """Each is used once."""
    session = warm[0].site.record.session
    settle_in(session, paths=desk.paths, engine=desk.engine)

    with pytest.raises(WorkspaceError, match="not a warm overlay"):
        settle_in(session, paths=desk.paths, engine=desk.engine)


def test_workspace_that_was_written_to_is_refused(desk, warm):
    """Nobody knows by whom."""
    workspace, _ = warm
    write(workspace.site.folder / "upper", {"planted": "x"})

    with pytest.raises(WorkspaceError, match="written"):
        settle_in(workspace.site.record.session, paths=desk.paths, engine=desk.engine)

    assert load_record(workspace.site.folder).warm


def test_sweep_leaves_what_is_held(desk, warm):
    """And removes it when its keeper is gone."""
    workspace, lease = warm
    assert remove_unclaimed(desk.paths, desk.engine) == []
    assert workspace.site.folder.exists()

    lease.close()

    assert remove_unclaimed(desk.paths, desk.engine) == [workspace.site.record.session]
    assert not workspace.site.folder.exists()


def test_sweep_leaves_sessions_alone(desk):
    """A workspace without a lease is a session's."""
    workspace, _ = desk.begin()

    assert remove_unclaimed(desk.paths, desk.engine) == []
    assert workspace.site.folder.exists()
