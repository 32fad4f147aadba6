"""Rows 1 and 2 of the attack table, by way of commits: what a box plants in its repository."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.errors import WorkspaceError
from tests.support.repositories import CommitDesk, git, make_repository
from tests.support.workspaces import Desk, picture

pytestmark = pytest.mark.docker

TREE = r"""
tree() { # MODE NAME OBJECT: an entry that git itself would not write
  printf "$1 $2\0" > /tmp/t; printf "$(echo $3 | sed 's/../\\x&/g')" >> /tmp/t
  git hash-object -w -t tree --literally --stdin < /tmp/t
}
commit() { git update-ref refs/heads/main $(git commit-tree -p HEAD -m evil $1); }
blob=$(printf 'exec touch /tmp/owned\n' | git hash-object -w --stdin)
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[CommitDesk]:
    project = tmp_path / "repo"
    make_repository(project)
    with closing(connect()) as engine:
        image = ensure_sandbox_image(engine, lambda _: None).name
        made = Desk(engine, Paths(tmp_path / "state", tmp_path / "config"), project)
        yield CommitDesk(made, image)
        made.clean()


@pytest.mark.parametrize(
    "script",
    [
        "inner=$(tree 100755 post-checkout $blob); commit $(tree 40000 .git $inner)",
        "inner=$(tree 100755 post-checkout $blob); commit $(tree 40000 .GIT $inner)",
        "inner=$(tree 100755 post-checkout $blob); commit $(tree 40000 git~1 $inner)",
        "inner=$(tree 100755 x $blob); commit $(tree 40000 '.g\\xe2\\x80\\x8cit' $inner)",
        "inner=$(tree 100755 x $blob); commit $(tree 40000 .. $inner)",
        "commit $(tree 120000 .gitmodules $blob)",
        "commit $(tree 100644 'a/b' $blob)",
        "commit $(tree 100644 gone 1234567890123456789012345678901234567890)",
        "printf 'tree %s\\nauthor x\\n\\nm' $(git rev-parse HEAD^{tree}) > /tmp/c; git update-ref refs/heads/main $(git hash-object -w -t commit --literally /tmp/c)",
    ],
)  # fmt: skip
def test_objects_that_git_would_not_make_are_refused(desk: CommitDesk, script: str) -> None:
    """Nothing of them reaches the host's object store, and the person is told."""
    before = picture(desk.project)
    workspace = desk.work(TREE + script)

    trouble = desk.look(workspace).trouble

    print(trouble)
    assert trouble
    with pytest.raises(WorkspaceError):
        desk.fetch(workspace, include_protected=True)
    assert picture(desk.project) == before


def test_repository_s_own_programs_run_nowhere_on_the_host(desk: CommitDesk) -> None:
    """Hooks and settings of the box's repository stay in the box; its honest commit comes out."""
    mark = desk.project.parent / "owned"
    desk.project.parent.chmod(0o777)
    evil = f"#!/bin/sh\ntouch {mark} /tmp/owned\n"
    workspace = desk.work(
        f"printf '{evil!s}' > /tmp/e".replace("\n", "\\n")
        + "\ncp /tmp/e .git/evil; chmod +x .git/evil\n"
        "for h in pre-commit post-checkout reference-transaction post-index-change; do "
        "cp .git/evil .git/hooks/$h 2>/dev/null || { mkdir -p .git/hooks; cp .git/evil .git/hooks/$h; }; done\n"
        "git -c core.hooksPath=/dev/null commit -q --allow-empty -m Honest\n"
        "for s in core.fsmonitor core.sshCommand core.pager diff.external core.alternateRefsCommand "
        "uploadpack.packObjectsHook core.editor gpg.program; do git config $s /workspace/.git/evil; done\n"
        "git config core.hooksPath /workspace/.git/hooks\n"
        "git config filter.x.clean /workspace/.git/evil; git config log.showSignature true\n"
        "echo '* filter=x diff=x' > .gitattributes; git config diff.x.textconv /workspace/.git/evil\n"
    )

    [branch] = desk.fetch(workspace).branches

    assert git(desk.project, "log", "-1", "--format=%s", branch.target) == "Honest"
    assert not mark.exists()
    assert not Path("/tmp/owned").exists()
    hooks = desk.project / ".git/hooks"
    assert not hooks.exists() or not list(hooks.glob("pre-commit"))


def test_odd_branch_names_and_loops_are_refused_or_left_out(desk: CommitDesk) -> None:
    """Files in refs that git takes for no branch bring nothing; the honest branch comes out."""
    workspace = desk.work(
        "git commit -q --allow-empty -m x; tip=$(git rev-parse HEAD)\n"
        "mkdir -p .git/refs/heads; echo $tip > \".git/refs/heads/a$(printf '\\342\\200\\256')b\"\n"
        "echo $tip > .git/refs/heads/-x; echo $(git commit-tree -p HEAD -m y HEAD^{tree}) > .git/refs/heads/MAIN\n"
    )

    shown = desk.look(workspace)
    assert shown.trouble == ""
    assert {one.name for one in shown.refused} == {"-x", "a\u202eb"}
    assert {branch.name for branch in shown.branches} == {"main", "MAIN"}
    fetched = desk.fetch(workspace, "main")
    assert [branch.name for branch in fetched.branches] == ["main"]
    with pytest.raises(WorkspaceError, match="differs by case only"):
        desk.fetch(workspace, "MAIN")


def test_large_honest_object_is_streamed(desk: CommitDesk) -> None:
    """A small pack may hold a large file; looking at it takes no memory to match."""
    workspace = desk.work(
        "head -c 300000000 /dev/zero > big; git add big; git commit -qm zeros; rm big\n"
    )

    shown = desk.look(workspace)
    assert shown.trouble == ""
    assert shown.count == 1
