from __future__ import annotations

import signal
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.apply import carry_out, commit_changes, finish, take_back
from orchestrator.workspace.journal import read_journal
from orchestrator.workspace.judge import STAGING_PREFIX
from tests.support import warm
from tests.support.host_apply import apply_all, changes_between, opener, target
from tests.support.workspaces import picture, write


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A project, the session's folder, and what the project shall become."""
    project, folder, wanted = tmp_path / "project", tmp_path / "folder", tmp_path / "wanted"
    write(
        project,
        {"a": "1", "b": "2", "flat/q": "8", "gone/x": "3", "gone/y/z": "4", "turns": "5", "m": "6"},
    )
    (project / "link").symlink_to("a")
    write(
        wanted, {"a": "one", "b": "2", "turns/in": "5", "new/deep/file": "7", "m": "6", "flat": "9"}
    )
    (wanted / "link").symlink_to("b")
    (wanted / "m").chmod(0o700)
    (wanted / "a").chmod(0o640)
    (wanted / "empty").mkdir(mode=0o750)
    folder.mkdir()
    return project, folder, wanted


def staging(project: Path) -> list[Path]:
    return [path for path in project.iterdir() if path.name.startswith(STAGING_PREFIX)]


def test_project_becomes_what_was_wanted(sides):
    """All kinds of steps together lead there, and leave no rubbish after finish."""
    project, folder, wanted = sides

    apply_all(*sides)
    finish(target(project, folder))

    assert picture(project) == picture(wanted)
    assert read_journal(folder) is None
    assert staging(project) == []


def kill_at(step: int, sides: tuple[Path, Path, Path], way: str = "swap") -> None:
    _, folder, _ = sides
    arguments = [*map(str, sides), str(step), way]
    died = warm.run(arguments, env={}, cwd=folder, module="tests.support.host_apply")
    assert died.returncode == -signal.SIGKILL


STEPS = 17


def test_every_step_is_killed_at_below(sides):
    """The parameters of the next test reach to the last step."""
    numbers: list[int] = []
    apply_all(*sides, on_step=numbers.append)

    assert numbers == list(range(1, STEPS + 1))


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_apply_killed_at_any_step_is_finished_later(sides, step):
    """SIGKILL between two steps loses nothing: carrying the journal out again ends the work."""
    project, folder, wanted = sides
    kill_at(step, sides)

    journal = read_journal(folder)
    assert journal is not None
    assert journal.phase == "committing"
    with target(project, folder).open() as tree:
        carry_out(tree, folder, journal)
    finish(target(project, folder))

    assert picture(project) == picture(wanted)
    assert staging(project) == []


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_race_lost_at_any_step_puts_everything_back(sides, step):
    """The person's edit in the very moment of the apply wins, and nothing else has changed."""
    project, folder, _ = sides
    last = project / "zz/z/z/last"
    write(project, {"zz/z/z/last": "before"})
    write(sides[2], {"zz/z/z/last": "after"})
    before = picture(project)

    def edit(number: int) -> None:
        if number == step:
            last.write_text("edited!")

    with pytest.raises(WorkspaceError, match="in this moment; everything was put back"):
        apply_all(*sides, on_step=edit)

    assert picture(project) == before | {"zz/z/z/last": "644 b'edited!'"}
    assert read_journal(folder) is None
    assert staging(project) == []


def test_name_taken_in_the_moment_of_the_apply_is_kept(sides):
    """A new file never overwrites one that somebody just made."""
    project, _, _ = sides
    before = picture(project)

    def take(number: int) -> None:
        if number == 1:
            write(project, {"new/deep/file": "mine"})

    with pytest.raises(WorkspaceError, match="put back"):
        apply_all(*sides, on_step=take)

    assert picture(project).items() >= (before | {"new/deep/file": "644 b'mine'"}).items()


def test_unreadable_content_stops_before_anything_changes(sides):
    """What cannot be staged is not begun."""
    project, folder, wanted = sides
    before = picture(project)
    changes = changes_between(project, wanted)
    (wanted / "new/deep/file").unlink()

    with pytest.raises(WorkspaceError, match="nothing was applied"):
        commit_changes(target(project, folder), changes, opener(wanted))

    assert picture(project) == before
    assert read_journal(folder) is None


def test_other_directory_at_the_path_is_refused(sides, tmp_path):
    """A project that was moved away and made anew is another one."""
    project, folder, wanted = sides
    changes = changes_between(project, wanted)
    there = target(project, folder)
    project.rename(tmp_path / "away")
    project.mkdir()

    with pytest.raises(WorkspaceError, match="not the directory"):
        commit_changes(there, changes, opener(wanted))

    assert list(project.iterdir()) == []


def test_unfinished_apply_is_not_begun_over(sides):
    """Two journals would not know of each other."""
    project, folder, wanted = sides
    apply_all(*sides)

    with pytest.raises(WorkspaceError, match="not finished"):
        commit_changes(target(project, folder), [], opener(wanted))


@pytest.mark.parametrize("step", [1, 5, 9, 13, STEPS])
def test_killed_apply_that_cannot_be_finished_is_undone(sides, step):
    """When the person edited what is still to come, recovery takes the other way: back."""
    project, folder, wanted = sides
    last = project / "zz/z/z/last"
    write(project, {"zz/z/z/last": "before"})
    write(wanted, {"zz/z/z/last": "after"})
    before = picture(project)
    kill_at(step, sides)
    last.write_text("edited!")

    with target(project, folder).open() as tree, pytest.raises(WorkspaceError, match="put back"):
        carry_out(tree, folder, read_journal(folder))

    assert picture(project) == before | {"zz/z/z/last": "644 b'edited!'"}
    assert staging(project) == []


def test_what_cannot_be_put_back_is_kept_and_told(sides):
    """Nobody's work is removed with the staging directory."""
    project, folder, wanted = sides
    write(project, {"zz/z/z/last": "before"})
    write(wanted, {"zz/z/z/last": "after"})

    def meddle(number: int) -> None:
        if number == STEPS:
            (project / "a").unlink()
            (project / "a").write_text("somebody's")
            (project / "zz/z/z/last").write_text("edited!")

    with pytest.raises(WorkspaceError, match="all was put back but 'a'"):
        apply_all(*sides, on_step=meddle)

    assert (project / "a").read_text() == "somebody's"
    assert [path.read_text() for path in staging(project)[0].iterdir()] == ["1"]
    assert read_journal(folder) is None


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_apply_by_links_killed_at_any_step_is_finished_later(sides, step):
    """The journal remembers the way, so that whoever goes on goes the same."""
    project, folder, wanted = sides
    kill_at(step, sides, "link")

    journal = read_journal(folder)
    assert journal is not None
    assert not journal.swaps
    with target(project, folder).open() as tree:
        carry_out(tree, folder, journal)
    finish(target(project, folder))

    assert picture(project) == picture(wanted)
    assert staging(project) == []


@pytest.mark.parametrize("step", range(1, STEPS + 1, 3))
def test_race_lost_by_links_puts_everything_back(sides, step):
    """Without swaps the person's edit wins too."""
    project, folder, wanted = sides
    last = project / "zz/z/z/last"
    write(project, {"zz/z/z/last": "before"})
    write(wanted, {"zz/z/z/last": "after"})
    before = picture(project)

    def edit(number: int) -> None:
        if number == step:
            last.write_text("edited!")

    with pytest.raises(WorkspaceError, match="everything was put back"):
        apply_all(*sides, on_step=edit, swaps=False)

    assert picture(project) == before | {"zz/z/z/last": "644 b'edited!'"}
    assert read_journal(folder) is None
    assert staging(project) == []


def moved_away(sides: tuple[Path, Path, Path]) -> str:
    """Let an apply fail while the directory that it has worked in is elsewhere; return its words."""
    project, _, wanted = sides
    write(project, {"d/f": "was", "zz/last": "before"})
    write(wanted, {"d/f": "new", "d/more": "new", "zz/last": "after"})

    def move(_: int) -> None:
        if (project / "d/more").exists():
            (project / "d").rename(project / "elsewhere")
            (project / "zz/last").write_text("edited!")

    with pytest.raises(WorkspaceError) as caught:
        apply_all(*sides, on_step=move)
    return f"{caught.value.message} ({caught.value.hint})"


def test_names_out_of_reach_are_told_and_taken_back_later(sides):
    """The journal holds them and no others, with what was there before."""
    project, folder, wanted = sides

    said = moved_away(sides)

    assert "2 names cannot be reached" in said
    assert "'d/f', 'd/more'" in said
    assert "everything was put back" not in said
    journal = read_journal(folder)
    assert journal is not None
    assert (journal.phase, [step.path for step in journal.steps]) == ("undoing", ["d/f", "d/more"])
    with pytest.raises(WorkspaceError, match="not finished"):
        commit_changes(target(project, folder), [], opener(wanted))

    (project / "elsewhere").rename(project / "d")
    with target(project, folder).open() as tree:
        assert take_back(tree, folder, journal).words == "everything was put back"

    assert (project / "d/f").read_text() == "was"
    assert not (project / "d/more").exists()
    assert read_journal(folder) is None
    assert staging(project) == []


def test_new_file_that_somebody_changed_stays_and_is_told(sides):
    """It is theirs by now; where nothing was before, nothing is said to be kept."""
    project, _, wanted = sides
    write(project, {"zz/last": "before"})
    write(wanted, {"fresh": "new", "zz/last": "after"})

    def meddle(_: int) -> None:
        if (project / "fresh").exists():
            (project / "fresh").write_text("somebody's")
            (project / "zz/last").write_text("edited!")

    with pytest.raises(WorkspaceError, match="all was put back but 'fresh'") as caught:
        apply_all(*sides, on_step=meddle)

    assert "is in" not in caught.value.message
    assert (project / "fresh").read_text() == "somebody's"
    assert staging(project) == []
