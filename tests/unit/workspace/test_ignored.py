import subprocess

import pytest

from orchestrator.workspace.host_repository import open_repository
from orchestrator.workspace.ignored import mark_ignored
from orchestrator.workspace.node import Change, Node
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.tree import open_tree
from tests.support.host_repository import Repository
from tests.support.workspaces import by_path, give, write

FILE = Node("file", 0o644)
PATTERNS = "*.log\n!keep.log\nbuild/\n/top\nfoo/*\n!foo/keep\n\\#odd\na/**/z\n[bad\n"
PATHS = (
    "x.log",
    "keep.log",
    "d/x.log",
    "build/in/deep",
    "build",
    "top",
    "d/top",
    "foo/keep",
    "foo/other",
    "#odd",
    "a/b/c/z",
    "nested/only-here",
    "nested/x.log",
    "info-excluded",
    "plain",
)


def ignored(root, *changes: Change) -> set[str]:
    with open_tree(root) as host:
        found = mark_ignored(changes, host, lambda: open_repository(root))
    return {change.path for change in found if change.ignored}


def added(*paths: str) -> list[Change]:
    return [Change(path, "added", None, FILE) for path in paths]


def test_same_paths_are_ignored_as_by_git(tmp_path):
    """Nested files, negations and the repository's own list included."""
    write(tmp_path, {".gitignore": PATTERNS, "nested/.gitignore": "only-here\n!x.log\n"})
    Repository(tmp_path).git("init", "-q")
    (tmp_path / ".git/info/exclude").write_text("info-excluded\n")
    of_git = subprocess.run(
        ["git", "check-ignore", "--no-index", *PATHS], cwd=tmp_path, capture_output=True, check=True
    )

    assert ignored(tmp_path, *added(*PATHS)) == set(of_git.stdout.decode().split())


def test_tracked_file_is_never_ignored(tmp_path):
    """Whatever a pattern says, git follows it."""
    repository = Repository(tmp_path)
    repository.git("init", "-q")
    repository.commit({"tracked.log": "1"})
    write(tmp_path, {".gitignore": "*.log\n", "other.log": "1"})
    changes = [Change(path, "modified", FILE, FILE) for path in ("tracked.log", "other.log")]

    assert ignored(tmp_path, *changes) == {"other.log"}


@pytest.mark.parametrize("git", ["", "broken"])
def test_without_a_working_repository_only_what_is_new_can_be_ignored(tmp_path, git):
    """Outside of one nothing is; with a broken one nobody knows what is tracked."""
    write(tmp_path, {".gitignore": "*.log\n"})
    if git:
        (tmp_path / ".git").mkdir()
    changes = [*added("new.log"), Change("old.log", "modified", FILE, FILE)]

    assert ignored(tmp_path, *changes) == ({"new.log"} if git else set())


@pytest.mark.docker
def test_box_cannot_hide_a_change_by_its_own_ignore_file(any_desk):
    """Only what the host ignores stays; the rest is listed whatever the box wrote."""
    write(any_desk.project, {".gitignore": "cache/\n"})
    give(any_desk.project)
    workspace = any_desk.work(
        "echo 'evil*' >> .gitignore; echo x > evil.sh; mkdir cache; echo x > cache/f"
    )

    changes = by_path(any_desk.look(workspace))
    applied = any_desk.take(workspace)

    assert {path for path, change in changes.items() if change.ignored} == {"cache/f"}
    assert applied.complete
    assert (any_desk.project / "evil.sh").exists()
    assert not (any_desk.project / "cache").exists()
    any_desk.take(workspace, Selection(ignored=True))
    assert (any_desk.project / "cache/f").exists()
