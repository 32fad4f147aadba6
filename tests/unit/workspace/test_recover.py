import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.apply import Target, commit_changes
from orchestrator.workspace.handover import target_of
from orchestrator.workspace.journal import JOURNAL, Journal, read_journal, write_journal
from orchestrator.workspace.plan import Selection, make_plan
from orchestrator.workspace.record import locked
from orchestrator.workspace.recover import recover, unfinished
from tests.support.workspaces import by_path, play_box

pytestmark = pytest.mark.docker


class Died(BaseException):
    """Stands for a kill that no handler sees."""


def die_at(any_desk, step: int):
    workspace = any_desk.work(
        "echo 1 > a; echo 2 > b; rm -r old; echo x >> app.py; echo p > .envrc"
    )
    plan = make_plan(any_desk.look(workspace), Selection())

    def die(number: int) -> None:
        if number == step:
            raise Died

    with workspace.content() as content, pytest.raises(Died):
        commit_changes(target_of(workspace.site), plan.changes, content, on_step=die)
    return workspace


@pytest.mark.parametrize("step", [1, 4, 6])
def test_apply_that_died_is_finished_by_the_next_command(any_desk, step):
    """Files, records and staging directory are as if it had not died."""
    workspace = die_at(any_desk, step)
    assert unfinished(any_desk.paths) == [workspace.site.record.session]

    said = recover(any_desk.paths, any_desk.engine)

    assert "now finished" in said[0]
    assert (any_desk.project / "a").read_text() == "1\n"
    assert not (any_desk.project / "old").exists()
    assert not list(any_desk.project.glob(".glovebox*"))
    assert recover(any_desk.paths, any_desk.engine) == []
    assert set(by_path(any_desk.look(workspace))) == {".envrc"}


def test_apply_that_had_not_begun_is_forgotten(any_desk):
    """Its staging directory goes, and the changes wait as before."""
    workspace = any_desk.work("echo 1 > a")
    target: Target = target_of(workspace.site)
    staging = any_desk.project / ".glovebox-apply-x"
    write_journal(
        target.folder, Journal(str(target.directory), target.inode, staging.name, None, "staging")
    )
    staging.mkdir()
    (staging / "1").write_text("half")

    said = recover(any_desk.paths, any_desk.engine)

    assert "changed nothing" in said[0]
    assert not staging.exists()
    assert set(by_path(any_desk.look(workspace))) == {"a"}


def test_apply_that_another_process_is_at_is_left_alone(any_desk):
    """Its lock says so."""
    workspace = die_at(any_desk, 1)

    with locked(workspace.site.folder):
        said = recover(any_desk.paths, any_desk.engine)

    assert "another glovebox command" in said[0]
    assert read_journal(workspace.site.folder) is not None
    assert "finished" in recover(any_desk.paths, any_desk.engine)[0]


def test_broken_journal_is_told_and_kept(any_desk):
    """A person must look."""
    workspace = any_desk.work("echo 1 > a")
    (workspace.site.folder / JOURNAL).write_text("{")

    assert "cannot be read" in recover(any_desk.paths, any_desk.engine)[0]
    assert (workspace.site.folder / JOURNAL).exists()


def test_session_goes_on_after_a_recovery_without_conflict(any_desk):
    """What was finished for it is its own apply."""
    workspace = die_at(any_desk, 3)
    recover(any_desk.paths, any_desk.engine)
    workspace, prepared = any_desk.begin(workspace.site.record.session)
    play_box(any_desk.engine, prepared, "cat a b; echo more >> a; echo more >> app.py")

    changes = any_desk.look(workspace)

    assert set(by_path(changes)) == {".envrc", "a", "app.py"}
    assert changes.conflicts == ()


def test_apply_that_could_not_be_taken_back_is_by_the_next_command(any_desk):
    """As soon as what was moved away is back; until then it is told."""
    workspace = any_desk.work("echo 1 > src/a; echo 2 > z")
    plan = make_plan(any_desk.look(workspace), Selection())
    project = any_desk.project

    def move(_: int) -> None:
        if (project / "src/a").exists():
            (project / "src").rename(project / "elsewhere")
            (project / "z").write_text("mine")

    with workspace.content() as content, pytest.raises(WorkspaceError, match="cannot be reached"):
        commit_changes(target_of(workspace.site), reversed(plan.changes), content, on_step=move)

    assert "waits: 1 names cannot be reached" in recover(any_desk.paths, any_desk.engine)[0]
    (project / "elsewhere").rename(project / "src")
    said = recover(any_desk.paths, any_desk.engine)
    assert "is undone: everything was put back" in said[0]
    assert not (project / "src/a").exists()
    assert (project / "z").read_text() == "mine"
    assert recover(any_desk.paths, any_desk.engine) == []
