"""Live sockets and pipes of the host in a directory that the box sees: nobody may come through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.doors import MOST_DOORS
from orchestrator.workspace.extra_dirs import mount_directories
from orchestrator.workspace.workspace import Prepared
from tests.support.host_doors import HostDoors, knock
from tests.support.workspaces import Desk, give, play_box, write

pytestmark = pytest.mark.docker

SOCKETS = ("h.sock", "deep/er/with blank.sock", ".vscode/in/p.sock", ".ssh/agent", "by.key")
PIPES = ("host.fifo", "deep/er/host.fifo", ".envrc")
NAMES = (*SOCKETS, *PIPES)
RULES = {
    "hidden": ("**/.ssh/**", "**/*.key"),
    "protected": ("**/.vscode/**", "**/.envrc", "**/.husky/**"),
}


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[HostDoors]:
    """A project full of doors."""
    project = tmp_path / "project"
    write(project, {"app.py": "plain\n", ".vscode/settings.json": "{}"})
    with HostDoors(project) as made:
        for name in SOCKETS:
            made.listen(name)
        for name in PIPES:
            made.pipe(name)
        give(tmp_path / "project")
        yield made


@pytest.fixture
def desk(doors: HostDoors, tmp_path: Path) -> Iterator[Desk]:
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        made = Desk(engine, Paths(tmp_path / "state", tmp_path / "config"), doors.root, "bind")
        yield made
        made.clean()


def played(desk: Desk, prepared: Prepared, image: str, *scripts: str) -> str:
    said = play_box(desk.engine, prepared, "\n".join((*scripts, "true")), image=image)
    print(said)
    return said


@pytest.mark.parametrize("mode", ["overlay", "copy", "bind"])
def test_box_reaches_nobody_through_its_project(
    desk: Desk, doors: HostDoors, mode: str, sandbox_image: str
) -> None:
    """Whatever is moved, removed or linked; the bare directory proves that the script works."""
    desk.mode = mode
    paths = [f"/workspace/{name}" for name in NAMES]
    _, prepared = desk.begin(**RULES)
    bare = replace(prepared, mounts=(Mount("bind", str(doors.root), "/workspace"),))
    played(desk, bare, sandbox_image, knock(*paths))
    assert doors.reached() == sorted(NAMES)

    said = played(
        desk,
        prepared,
        sandbox_image,
        knock(*paths),
        "cd /workspace; ln h.sock other.sock; mv h.sock moved.sock; rm -f h.sock; mv deep away",
        "mv .vscode/in out; touch .vscode/in/new; chmod -R u+rwx .",
        knock("/workspace/other.sock", "/workspace/moved.sock", "/workspace/out/p.sock"),
        knock("/workspace/away/er/with blank.sock", "/workspace/away/er/host.fifo", *paths),
    )

    assert "REACHED" not in said or mode == "overlay"
    assert doors.reached() == []
    if mode == "bind":
        assert not (doors.root / ".vscode/in/new").exists()
        assert sorted(prepared.notices[-1].partition(": ")[0].split()) == ["workspace"]
        assert "'.envrc' (pipe)" in prepared.notices[-1]


def test_box_reaches_nobody_through_a_further_directory(
    desk: Desk, doors: HostDoors, tmp_path: Path, sandbox_image: str
) -> None:
    """Read-only is no hold: a connection is no write."""
    folder = tmp_path / "session"
    folder.mkdir()
    paths = [f"/dirs/project/{name}" for name in NAMES]
    brought = mount_directories([doors.root], hidden=RULES["hidden"], folder=folder)
    prepared = Prepared("none", brought.mounts[:1], 1000, 1000, workdir="/tmp")
    played(desk, prepared, sandbox_image, knock(*paths))
    assert doors.reached() == sorted(NAMES)

    prepared = replace(prepared, mounts=brought.mounts)
    said = played(desk, prepared, sandbox_image, knock(*paths), "cat /dirs/project/app.py")

    assert "REACHED" not in said
    assert "plain" in said
    assert doors.reached() == []
    assert "'by.key' (socket)" in brought.notices[0]


def test_door_that_appears_later_is_told_of(
    desk: Desk, doors: HostDoors, sandbox_image: str
) -> None:
    """New ones, ones made anew and the box's own; what merely was used is not."""
    workspace, prepared = desk.begin(**RULES)
    os.write(doors.pipes["host.fifo"], b"a write changes times only")
    (doors.root / "h.sock").unlink()
    doors.listen("h.sock")
    doors.listen("late/new.sock")
    played(desk, prepared, sandbox_image, "mkfifo made; mkdir shut && mkfifo shut/x")

    notes = [note for note in desk.look(workspace).notes if "not there at the start" in note]

    assert [note.partition(":")[0] for note in notes] == [
        "h.sock", "late/new.sock", "made", "shut/x",
    ]  # fmt: skip
    assert notes[2].startswith("made: a pipe that was not there")


def test_late_door_of_a_further_directory_is_told_of(
    desk: Desk, doors: HostDoors, tmp_path: Path
) -> None:
    """With the hidden files that appeared there; by whatever mode the project itself is seen."""
    desk.mode = "copy"
    workspace, _ = desk.begin(hidden=("**/.env",))
    further = tmp_path / "further"
    write(further, {"a.txt": "a"})
    mount_directories([further], hidden=("**/.env",), folder=workspace.site.folder)
    write(further, {".env": "S3CRET"})
    doors.root = further
    doors.listen("late.sock")

    notes = [note.partition(": ")[0] for note in desk.look(workspace).notes]

    assert notes == [f"{further}/late.sock", f"{further}/.env"]


def test_bottomless_directory_silences_nothing(desk: Desk, sandbox_image: str) -> None:
    """What is told at the end is told all the same, and the next session is refused in words."""
    workspace, prepared = desk.begin(**RULES)
    deep = "for i in $(seq 30); do mkdir $(printf %0200d) && cd $(printf %0200d) || exit; done"
    played(desk, prepared, sandbox_image, f"cp /bin/true sub; chmod u+s sub; mkfifo p; ({deep})")

    notes = desk.look(workspace).notes

    assert [note[:4] for note in notes] == ["sub:", "0000", "p: a"]
    assert max(map(len, notes)) < 600
    with pytest.raises(WorkspaceError, match="cannot be covered"):
        desk.begin(**RULES)


def test_too_many_doors_refuse_the_mode(desk: Desk, doors: HostDoors, tmp_path: Path) -> None:
    """With some of their names and the way out; nothing stays behind."""
    for number in range(MOST_DOORS):
        os.mkfifo(doors.root / f"many-{number:03}")

    with pytest.raises(WorkspaceError, match=r"'\.envrc' \(pipe\).* more") as caught:
        desk.begin(**RULES)
    assert "overlay" in caught.value.hint
    assert not (doors.root / ".husky").exists()

    with pytest.raises(WorkspaceError, match=f"most {MOST_DOORS}"):
        mount_directories([doors.root], hidden=(), folder=tmp_path)


def test_program_with_set_id_bits_is_told_of(desk: Desk, sandbox_image: str) -> None:
    """Those of before are the person's own."""
    write(desk.project, {"mine": "#!/bin/sh\n"})
    give(desk.project / "mine")
    (desk.project / "mine").chmod(0o4755)
    workspace, prepared = desk.begin(**RULES)
    played(desk, prepared, sandbox_image, "cp /bin/sh sub; chmod 4755 sub; mkdir d; chmod g+s d")

    notes = [note for note in desk.look(workspace).notes if "set-" in note]

    assert len(notes) == 1
    assert notes[0].startswith("sub: set-user-id since the session began (mode 4755)")
