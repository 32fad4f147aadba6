from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from tests.support.workspaces import by_path, give, play_box, write

pytestmark = pytest.mark.docker


@pytest.mark.parametrize(
    "name", ["a b", "c:d", "e,ro", "f\\g", "h\ni", "j'k\"l", "m=n", "\u00e9", "-x"]
)
def test_any_directory_name_works(desk, tmp_path, name):
    """Mount options have special characters, directories may have them too."""
    desk.project = tmp_path / name
    write(desk.project, {"f": "1"})
    give(desk.project)

    workspace, prepared = desk.begin()

    assert prepared.mode == "overlay"
    assert play_box(desk.engine, prepared, "cat f; echo 2 > g") == "1"
    assert desk.take(workspace).nothing_left
    assert (desk.project / "g").read_text() == "2\n"


def test_host_directory_is_never_written(desk):
    """Whatever the box does before an apply."""
    before = {path: path.lstat().st_mtime_ns for path in desk.project.rglob("*")}

    desk.work("echo x > app.py; rm -r old src; chmod 777 . ; touch new")

    assert {path: path.lstat().st_mtime_ns for path in desk.project.rglob("*")} == before


def test_other_directory_at_the_path_stops_a_session_that_goes_on(desk, tmp_path):
    """Its changes were made to another one."""
    workspace, _ = desk.begin()
    desk.project.rename(tmp_path / "away")
    write(desk.project, {"f": "1"})
    give(desk.project)

    with pytest.raises(WorkspaceError, match="not the directory"):
        desk.begin(workspace.site.record.session)


def test_moved_file_is_no_conflict_and_a_deleted_one_is(desk):
    """The mark of a copied file tells them apart."""
    workspace = desk.work("mv app.py renamed.py; echo more >> src/mod.py; cp -l run.sh hard.sh")
    (desk.project / "src/mod.py").unlink()

    changes = by_path(desk.look(workspace))

    assert changes["renamed.py"].conflict == ""
    assert changes["hard.sh"].conflict == ""
    assert "deleted on the host" in changes["src/mod.py"].conflict


def test_deleted_file_is_told_from_a_new_one_with_its_inode(desk):
    """File systems give an inode's number again at once; the box touched that new name too."""
    workspace = desk.work("echo more >> src/mod.py; echo box > reborn")
    gone = desk.project / "src/mod.py"
    inode = gone.lstat().st_ino
    gone.unlink()
    for number in range(500):
        fresh = desk.project / f"fresh{number}"
        fresh.touch()
        if fresh.lstat().st_ino == inode:
            break
    else:
        pytest.skip("this file system did not give the inode again")
    fresh.rename(desk.project / "reborn")

    changes = by_path(desk.look(workspace))

    assert "deleted on the host" in changes["src/mod.py"].conflict
    assert changes["reborn"].conflict


def test_directory_made_anew_is_compared_file_by_file(desk):
    """An equal file in it is no change, a missing one a deletion."""
    workspace = desk.work("rm -r old; mkdir old; printf 'a\\n' > old/a.txt")

    assert {p: c.kind for p, c in by_path(desk.look(workspace)).items()} == {"old/b.txt": "deleted"}


def test_work_directory_of_the_kernel_is_removed(desk):
    """It belongs to root whoever calls."""
    workspace = desk.work("rm app.py")
    folder: Path = workspace.site.folder
    assert any((folder / "work").iterdir())

    desk.clean()

    assert not folder.exists()
