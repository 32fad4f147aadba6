import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.branch import NewCommit, commit_on_branch
from tests.support.host_repository import Repository
from tests.support.workspaces import give

pytestmark = pytest.mark.docker
WORK = NewCommit("work", "Message\n\nBody", "A <Person>\n", "a@invalid")


@pytest.fixture
def repository(any_desk) -> Repository:
    """The project in each mode, without the stub of a repository that others need."""
    for name in ("config", "HEAD"):
        (any_desk.project / ".git" / name).unlink()
    return Repository(any_desk.project)


def test_first_commit_of_all_can_be_the_box(any_desk, repository):
    """A repository without a commit gets one on the branch, and main stays unborn."""
    repository.git("init", "-q", "-b", "main")
    give(repository.root)
    workspace = any_desk.work("echo x > made; echo two >> app.py")

    made = commit_on_branch(workspace, any_desk.look(workspace).changes, WORK)

    assert repository.git("log", "--all", "--format=%H %an") == f"{made} A Person"
    assert repository.git("show", "work:app.py") == "print('one')\ntwo"
    assert repository.git("for-each-ref", "--format=%(refname)") == "refs/heads/work"


def test_content_that_changed_after_the_look_makes_nothing(any_desk, repository):
    """No branch, and no name of a half-done commit."""
    if any_desk.mode == "copy":
        pytest.skip("a copy's contents were kept at the look, so nothing can change them")
    repository.begin()
    workspace = any_desk.work("echo x > made")
    changes = any_desk.look(workspace).changes
    (workspace.site.folder / "upper/made").write_text("y\n")

    with pytest.raises(WorkspaceError, match="changed after it was looked at"):
        commit_on_branch(workspace, changes, WORK)

    assert repository.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_deletions_types_and_modes_are_in_the_commit(any_desk, repository):
    """As git tells them."""
    repository.begin()
    workspace = any_desk.work("rm -r old; ln -sfn app.py run.sh; chmod +x src/mod.py; mv link l2")

    commit_on_branch(workspace, any_desk.look(workspace).changes, WORK)

    told = repository.git("diff", "--summary", "--no-renames", "main", "work").splitlines()
    assert {line.strip() for line in told} == {
        "delete mode 100644 old/a.txt",
        "delete mode 100644 old/b.txt",
        "mode change 100644 => 120000 run.sh",
        "mode change 100644 => 100755 src/mod.py",
        "delete mode 120000 link",
        "create mode 120000 l2",
    }


def test_nothing_for_git_is_said(any_desk, repository):
    """An empty directory is no commit."""
    repository.begin()
    workspace = any_desk.work("mkdir empty")

    with pytest.raises(WorkspaceError, match="nothing that git could take"):
        commit_on_branch(workspace, any_desk.look(workspace).changes, WORK)
