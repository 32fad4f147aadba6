"""Rewinding a session at rest, with its real files; tests/e2e/test_rewind.py kills it."""

import json

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.errors import AuditUnavailable, SessionBusy, SessionError
from orchestrator.harness.resting import open_resting
from orchestrator.harness.rewind_plan import plan_rewind, plan_undo
from orchestrator.harness.rewinding import (
    JOURNAL,
    finish_rewind,
    mend_rewind,
    rewind_session,
)
from orchestrator.harness.run import run_session
from orchestrator.sessions.finding import list_sessions
from orchestrator.sessions.store import SessionStore
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.rewind import FileHistory
from tests.support.world import bash

pytestmark = pytest.mark.docker


class Rest:
    """A session at rest: its file, its workspace."""

    def __init__(self, paths, engine) -> None:
        self.paths = paths
        self.store = SessionStore.open(list_sessions(paths.sessions)[0].path)
        self.workspace = load_workspace(self.store.header.id, paths=paths, engine=engine)
        self.upper = self.workspace.site.folder / "upper"

    def rewind(self, target, what="both"):
        known = FileHistory(self.workspace).snapshots()
        aim = (
            plan_rewind(target, what, tree=self.store.tree, snapshots=known)
            if target
            else plan_undo(self.store.tree)
        )
        return anyio.run(lambda: rewind_session(self.store, self.workspace, aim, paths=self.paths))

    def audit(self):
        path = self.paths.audit_log(self.store.header.id)
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def rest(options, paths, engine, front):
    wanted = options(bash("echo a > a"), bash("echo b > b; rm a"), {"text": "done"})
    anyio.run(lambda: run_session(wanted, Settings(), paths, front=front))
    made = Rest(paths, engine)
    yield made
    made.store.close()


def test_intent_is_recorded_before_and_the_outcome_after(rest):
    """With what would lead back."""
    done = rest.rewind("1")

    records = {r["type"]: r["body"] for r in rest.audit() if r["type"].startswith("rewind")}
    assert records["rewind_intent"]["snapshot"] == 2
    assert records["rewind"]["before"] == done.before
    assert sorted(p.name for p in rest.upper.iterdir()) == ["a"]
    assert len(rest.store.messages()) == 3


def test_session_without_a_chain_is_not_rewound(rest):
    """No record, no action."""
    rest.paths.audit_log(rest.store.header.id).unlink()

    with pytest.raises(AuditUnavailable):
        rest.rewind("1")

    assert sorted(p.name for p in rest.upper.iterdir()) == ["b"]


def test_nothing_waits_to_be_finished_after_a_whole_one(rest):
    """Its journal is gone."""
    rest.rewind("1")

    assert not (rest.workspace.site.folder / JOURNAL).exists()
    finished = anyio.run(lambda: finish_rewind(rest.store, rest.workspace, paths=rest.paths))
    assert finished is None
    assert anyio.run(lambda: mend_rewind(rest.store, rest.paths)) == ""


def test_rewind_that_was_ordered_is_finished_by_whoever_comes_next(rest):
    """As a run that resumes the session does."""
    aim = plan_rewind(
        "1", "both", tree=rest.store.tree, snapshots=FileHistory(rest.workspace).snapshots()
    )
    order = {
        "aim": {name: getattr(aim, name) for name in aim.__slots__},
        "newest": 3,
        "leaf": rest.store.tree.leaf,
        "turn": 3,
        "entries": len(rest.store.tree.entries),
    }
    (rest.workspace.site.folder / JOURNAL).write_text(json.dumps(order))

    said = anyio.run(lambda: mend_rewind(rest.store, rest.paths))

    assert "now finished" in said
    assert sorted(p.name for p in rest.upper.iterdir()) == ["a"]
    assert len(rest.store.messages()) == 3
    rest.rewind(None)
    assert sorted(p.name for p in rest.upper.iterdir()) == ["b"]


def test_journal_that_cannot_be_read_is_named(rest):
    """Nothing is guessed."""
    (rest.workspace.site.folder / JOURNAL).write_text("{")

    with pytest.raises(SessionError, match=r"rewind\.json"):
        anyio.run(lambda: mend_rewind(rest.store, rest.paths))


def test_front_door_goes_back_between_two_runs(rest):
    """By one object: look, go, take it back."""
    file = rest.store.path
    rest.store.close()

    async def visit():
        async with open_resting(file, rest.paths) as resting:
            assert [turn.number for turn in resting.turns()] == [0, 1, 2, 3]
            kept = [item.number for item in await resting.snapshots()]
            await resting.rewind("1", "files")
            first = sorted(p.name for p in rest.upper.iterdir())
            await resting.rewind("undo")
            return kept, first, sorted(p.name for p in rest.upper.iterdir())

    assert anyio.run(visit) == ([1, 2, 3], ["a"], ["b"])


def test_session_that_somebody_has_open_is_left_alone(rest):
    """Its holder is named."""

    async def visit():
        async with open_resting(rest.store.path, rest.paths):
            raise AssertionError

    with pytest.raises(SessionBusy, match="process"):
        anyio.run(visit)
