"""What a box plants in its workspace stays in the box, and the person is told of each piece."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.workspace.summary import left_lines, summary_lines
from tests.support.workspaces import Desk, give, picture, write

pytestmark = pytest.mark.docker

PLANT = r"""
mkfifo fifo
mkdir d; ln -s /etc/passwd d/abs; ln -s ../../../outside d/climb; ln -s . d/loop
ln -s ../outside out; rm file; ln -s /etc/shadow file
echo x > suid; chmod 6755 suid; ln suid hard
printf evil > $'name\n\033[2J\xe2\x80\xae'
! mknod dev b 7 0 2>/dev/null
deep=deep$(printf /d%.0s {1..1500}); mkdir -p $deep; echo bottom > $deep/file
"""

NAMES = r"""for n in -rf '*' ' ' $'\xff\xfe' 'a\b' '$(x)'; do echo x > ./"$n"; done"""


@pytest.fixture(params=["overlay", "copy"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    project = tmp_path / "project"
    write(project, {"file": "mine", "plain": "1"})
    write(tmp_path, {"outside/victim": "untouched"})
    give(project)
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        paths = Paths(tmp_path / "state", tmp_path / "config")
        made = Desk(engine, paths, project, request.param)
        yield made
        made.clean()


def test_planted_things_are_refused_and_named(desk: Desk) -> None:
    """FIFO, escaping links and bottomless directories are refused; the rest comes through safely."""
    workspace = desk.work(PLANT)
    outside = picture(desk.project.parent / "outside")

    shown = "\n".join(summary_lines(desk.look(workspace), {}))
    applied = desk.take(workspace)
    told = {item.path: item.reason for item in applied.left}

    assert "fifo" in told["fifo"]
    assert {"d/abs", "d/climb", "out", "file"} <= told.keys()
    assert picture(desk.project.parent / "outside") == outside
    assert (desk.project / "file").read_text() == "mine"
    assert stat.S_IMODE((desk.project / "suid").stat().st_mode) == 0o755
    assert (desk.project / "suid").stat().st_nlink == 1
    assert not any(path.is_fifo() for path in desk.project.rglob("*"))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"name\n\x1b[2J" in shown
    assert all("\x1b" not in line for line in left_lines(applied.left))
    assert any("nested deeper" in reason for reason in told.values())


def test_removal_of_a_bottomless_workspace_ends(desk: Desk) -> None:
    """Discard copes with paths that no single call could name."""
    script = "n=$(printf d%.0s {1..200}); for i in {1..40}; do mkdir $n && cd $n; done"
    workspace = desk.work(script)

    desk.clean()

    assert not workspace.site.folder.exists()


def test_special_names_are_applied_under_themselves(desk: Desk) -> None:
    """Names that are no UTF-8, or look like options or globs, are names like any other."""
    workspace = desk.work(NAMES)

    assert desk.take(workspace).nothing_left
    found = {os.fsencode(path.name) for path in desk.project.iterdir()}
    assert {b"-rf", b"*", b" ", b"\xff\xfe", b"a\\b", b"$(x)"} <= found


@pytest.mark.parametrize("steps", [["HEAD config commondir"], ["config", "HEAD"]])
def test_repository_in_plain_sight_needs_the_flag_of_protected_files(
    desk: Desk, steps: list[str]
) -> None:
    """However few of its parts come, and in whatever order: git would run what they name."""
    for names in steps:
        workspace = desk.work(f"mkdir -p docs/a; cd docs/a; for n in {names}; do echo x > $n; done")
        applied = desk.take(workspace)
        desk.clean()

    assert not (desk.project / "docs/a/HEAD").exists()
    assert {item.path for item in applied.left} >= {f"docs/a/{n}" for n in steps[-1].split()}
