"""A project directory, a session's workspace over it, and something that plays the box."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import BASE
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.home_volumes import list_homes
from orchestrator.engine.volumes import remove_volume
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.workspace.handover import (
    Applied,
    apply_changes,
    begin_workspace,
    discard_changes,
    drop_emptied,
    read_changes,
)
from orchestrator.workspace.node import Change, ChangeSet, WorkspaceMode
from orchestrator.workspace.opening import drop_workspace
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.workspace import Prepared, Workspace, WorkspaceSpec

PLAIN_UID = 1000
"""Who owns a project where the tests run as root: somebody, so that an overlay is possible."""

HIDDEN = ("**/.env",)
PROTECTED = (".git/hooks/**", ".envrc", ".vscode/**", ".husky/**")


def drop_homes(engine: Engine, below: Path) -> None:
    """Remove the homes in the box of all projects below a directory."""
    for home in list_homes(engine):
        if Path(home.project).is_relative_to(below):
            remove_volume(engine, home.name)


def give(path: Path, uid: int | None = None) -> None:
    """Give a tree to a plain user, as far as this process may."""
    if os.geteuid() != 0:
        return
    owner = PLAIN_UID if uid is None else uid
    for found in (path, *path.rglob("*")):
        os.chown(found, owner, owner, follow_symlinks=False)


def write(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files below a directory, with the directories they need."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def nest(root: Path) -> None:
    """Make directories within each other, deeper than any path can say."""
    name = "d" * 200
    fd = os.open(root, os.O_RDONLY)
    for _ in range(30):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def picture(root: Path) -> dict[str, str]:
    """Return every name below a directory with type, mode and content."""
    found = {}
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        if stat.S_ISLNK(info.st_mode):
            what = f"link {path.readlink()}"
        elif stat.S_ISREG(info.st_mode):
            what = f"{stat.S_IMODE(info.st_mode):o} {path.read_bytes()!r}"
        else:
            what = f"{stat.S_IMODE(info.st_mode):o} {stat.S_IFMT(info.st_mode):o}"
        found[str(path.relative_to(root))] = what
    return found


def play_box(engine: Engine, prepared: Prepared, script: str, *, image: str = BASE) -> str:
    """Run a script as the box's commands would, in a container with the mounts; return output."""
    with running_box(engine, prepared, script, image=image) as container:
        code = engine.api.wait(container)["StatusCode"]
        output: str = engine.api.logs(container).decode()
    assert code == 0, output
    return output


@contextmanager
def running_box(
    engine: Engine, prepared: Prepared, script: str = "exec sleep 60", *, image: str = BASE
) -> Iterator[str]:
    """Give a started container with the mounts, in which a script runs; it is gone at the end."""
    host_config = engine.api.create_host_config(
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        mounts=[_mount(mount) for mount in prepared.mounts],
    )
    created = engine.api.create_container(
        image,
        ["bash", "-c", script],
        entrypoint=[],
        user=f"{prepared.uid}:{prepared.gid}",
        working_dir=prepared.workdir,
        host_config=host_config,
        network_disabled=True,
    )
    try:
        engine.api.start(created["Id"])
        yield str(created["Id"])
    finally:
        engine.api.remove_container(created["Id"], force=True, v=True)


def _mount(mount: Mount) -> dict[str, object]:
    return {
        "Type": mount.kind,
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": mount.read_only,
    }


@dataclass
class Desk:
    """One project and the sessions on it, on the real engine."""

    engine: Engine
    paths: Paths
    project: Path
    mode: WorkspaceMode = "overlay"
    begun: list[Workspace] = field(default_factory=list)

    def begin(self, session: str = "", **more: object) -> tuple[Workspace, Prepared]:
        """Prepare a workspace."""
        spec = WorkspaceSpec(
            session=SessionId(session or secrets.token_hex(6)),
            directory=self.project,
            mode=self.mode,
            image=BASE,
            **{"hidden": HIDDEN, "protected": PROTECTED, **more},
        )
        found = anyio.run(lambda: begin_workspace(spec, paths=self.paths, engine=self.engine))
        self.begun.append(found[0])
        return found

    def work(self, script: str) -> Workspace:
        """Prepare a workspace and let a box run a script in it."""
        workspace, prepared = self.begin()
        play_box(self.engine, prepared, script)
        return workspace

    def look(self, workspace: Workspace) -> ChangeSet:
        """Read the changes."""
        return anyio.run(read_changes, workspace)

    def take(self, workspace: Workspace, selection: Selection | None = None) -> Applied:
        """Apply the changes as they are now."""
        return self.apply(workspace, self.look(workspace), selection)

    @staticmethod
    def apply(
        workspace: Workspace, changes: ChangeSet, selection: Selection | None = None
    ) -> Applied:
        """Apply changes that were looked at before; what is empty then is removed."""
        applied = anyio.run(apply_changes, workspace, changes, selection or Selection())
        if applied.nothing_left:
            anyio.run(drop_emptied, workspace, applied)
            assert not workspace.site.folder.exists()
        return applied

    def clean(self) -> None:
        """Drop all workspaces that are left."""
        for workspace in self.begun:
            if workspace.site.folder.exists():
                anyio.run(discard_changes, workspace)


def drop_workspaces(paths: Paths) -> None:
    """Remove the workspaces of all sessions below a state directory, with their volumes."""
    folders = sorted(paths.work(SessionId("x")).parent.glob("*"))
    if not folders:
        return
    with closing(connect()) as engine:
        for folder in folders:
            drop_workspace(SessionId(folder.name), paths=paths, engine=engine)


def by_path(changes: ChangeSet) -> dict[str, Change]:
    """Return the changes by path."""
    return {change.path: change for change in changes.changes}
