"""Git works in a box on a linked work tree or a submodule, and its real repository stays out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.workspace.private_git import find_private_git
from orchestrator.workspace.tree import open_tree
from tests.support.host_doors import HostDoors, knock
from tests.support.repositories import CommitDesk, git, make_repository
from tests.support.workspaces import Desk, give, picture, play_box, write

pytestmark = pytest.mark.docker


@pytest.fixture
def main() -> Iterator[Path]:
    """A repository that its owner can reach: pytest's directories are closed to others."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        Path(folder).chmod(0o755)
        yield _made(Path(folder) / "main")


def _made(root: Path) -> Path:
    make_repository(root, owned=False)
    git(root, "remote", "add", "origin", "https://me:S3cretOfMine@git.example/x.git")
    git(root, "branch", "other")
    return root


@pytest.fixture
def tree_desk(engine, paths, main: Path, sandbox_image: str) -> Iterator[CommitDesk]:
    project = main.parent / "tree"
    git(main, "worktree", "add", "-q", "-b", "topic", str(project))
    give(main)
    give(project)
    desk = Desk(engine, paths, project)
    yield CommitDesk(desk, sandbox_image)
    desk.clean()


def test_host_s_sockets_beside_the_objects_are_covered(tree_desk: CommitDesk, main: Path) -> None:
    """The objects are mounted and no layer; the bare mount proves that the script works."""
    with HostDoors(main / ".git/objects") as doors:
        doors.listen("info/h.sock")
        _, prepared = tree_desk.desk.begin()
        script = knock("/git/objects/info/h.sock")
        bare = replace(prepared, mounts=prepared.mounts[:2])
        play_box(tree_desk.desk.engine, bare, script, image=tree_desk.image)
        assert doors.reached() == ["info/h.sock"]

        said = play_box(
            tree_desk.desk.engine, prepared, f"{script}; git log", image=tree_desk.image
        )

        assert "REACHED" not in said
        assert "First" in said
        assert doors.reached() == []


def test_box_commits_on_a_linked_work_tree(tree_desk: CommitDesk, main: Path) -> None:
    """The tree is clean at first, the commit comes out, and the main repository is untouched."""
    before = picture(main)
    workspace, prepared = tree_desk.desk.begin()

    said = play_box(
        tree_desk.desk.engine,
        prepared,
        "export HOME=/tmp; git status --porcelain=v2 --branch; git log --format=%s; git remote -v;"
        "git branch -a; ls -d /git/objects; touch /git/objects/x || echo refused; "
        "git config user.name A; git config user.email a@b; "
        "echo two >> app.py; git commit -qam Second; git fsck --strict",
        image=tree_desk.image,
    )

    print(said)
    assert "# branch.head topic" in said
    assert "\n1 " not in said
    assert "First" in said
    assert "other" in said
    assert "refused" in said
    assert "S3cretOfMine" not in said
    assert picture(main) == before
    [branch] = tree_desk.fetch(workspace).branches
    assert branch.name == "topic"
    assert git(main, "log", "--format=%s", branch.target) == "Second\nFirst"
    assert git(tree_desk.project, "status", "--porcelain") == ""


def test_detached_work_tree_works_too(tree_desk: CommitDesk, main: Path) -> None:
    """HEAD is then a commit's name."""
    git(tree_desk.project, "checkout", "-q", "--detach")
    give(main)
    workspace = tree_desk.work("git commit -q --allow-empty -m Loose")

    [branch] = tree_desk.fetch(workspace).branches

    assert branch.name == "detached-head"


def test_files_are_changed_and_applied_as_ever(tree_desk: CommitDesk) -> None:
    """What is inside .git is no change of a file; the pointer on the host stays."""
    pointer = (tree_desk.project / ".git").read_text()
    workspace = tree_desk.work("echo two > app.py; git add app.py; rm -rf .git")

    applied = tree_desk.desk.take(workspace)

    assert [change.path for change in applied.changes] == ["app.py"]
    assert (tree_desk.project / ".git").read_text() == pointer


def test_pointer_to_nowhere_is_told(tmp_path: Path) -> None:
    """A session starts all the same; git in it would have failed on the host too."""
    write(tmp_path, {".git": "gitdir: /nonexistent\n"})

    with open_tree(tmp_path) as tree:
        private, notice = find_private_git(tree, tmp_path)

    assert private is None
    assert "git does not work in the box" in notice


def test_plain_repository_needs_none(main: Path) -> None:
    """Its .git is in the directory."""
    with open_tree(main) as tree:
        assert find_private_git(tree, main) == (None, "")


def _offered(project: Path) -> tuple[object, str]:
    with open_tree(project) as tree:
        return find_private_git(tree, project)


def _planted(main: Path, words: str) -> Path:
    project = main.parent / "planted"
    project.mkdir()
    (project / ".git").write_text(f"gitdir: {words}\n")
    give(project)
    return project


@pytest.mark.parametrize("target", ["{main}/.git", "../main/.git", "{main}/.git/worktrees/tree"])
def test_file_that_names_somebody_elses_repository_brings_nothing(main: Path, target: str) -> None:
    """Whoever wrote the directory could read all of that repository's history in the box."""
    git(main, "worktree", "add", "-q", "-b", "topic", str(main.parent / "tree"))
    give(main)
    project = _planted(main, target.format(main=main))

    private, notice = _offered(project)

    assert private is None
    assert "does not say that its work tree is" in notice


def test_repository_inside_the_directory_brings_nothing(main: Path) -> None:
    """All of it is the directory's, links to anywhere included."""
    project = _planted(main, "inner")
    (main / ".git").rename(project / "inner")

    private, notice = _offered(project)

    assert private is None
    assert "lies in the directory itself" in notice


@pytest.mark.parametrize("name", ["objects", "index", "info/exclude", "shallow"])
def test_links_in_the_repository_bring_nothing(main: Path, name: str) -> None:
    """A hostile directory may hold the work tree and the repository side by side."""
    secret = main.parent / "secret"
    secret.mkdir()
    if name == "objects":
        (main / ".git" / name).rename(secret / "objects")
        (main / ".git" / name).symlink_to(secret / "objects")
    else:
        (secret / "file").write_text("")
        (main / ".git" / name).unlink(missing_ok=True)
        (main / ".git" / name).symlink_to(secret / "file")
    project = _planted(main, str(main / ".git"))
    git(main, "config", "core.worktree", str(project))
    give(main)

    private, notice = _offered(project)

    assert private is None
    assert "git does not work in the box" in notice


def test_submodule_is_known_by_its_work_tree(main: Path) -> None:
    """The same, without the links: this is how a submodule looks."""
    project = _planted(main, str(main / ".git"))
    git(main, "config", "core.worktree", str(project))
    give(main)

    private, notice = _offered(project)

    assert (private is not None, notice) == (True, "")
