"""A project's home in the box: one volume for all its sessions, so that caches and settings stay."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.config.paths import Paths, project_slug
from orchestrator.engine.client import Engine
from orchestrator.engine.home_volumes import HomeVolume, list_homes, made_mark
from orchestrator.engine.volumes import HomeOwner, copier, create_volume, remove_volume
from orchestrator.errors import EngineError, EngineUnavailable
from orchestrator.schema.ids import digest_of
from orchestrator.schema.mount import Mount
from orchestrator.workspace.presence import is_gone
from orchestrator.workspace.record import locked

_READY = "ready"
_MODE = 0o700
_RELEASE_S = 2.0
"""How long the engine may take to let go of the last box's mounts."""


@dataclass(frozen=True, slots=True)
class HomeSpec:
    """Whose home it is, and where it goes."""

    project: Path
    """The project directory, absolute, links resolved."""
    target: str
    """Absolute path in the box."""
    uid: int
    gid: int
    image: str
    """Any image that the engine has; nothing of it runs."""
    labels: Mapping[str, str]
    """For the container that hands the volume over to its user."""


def home_name(project: Path, uid: int, *, paths: Paths) -> str:
    """Return the volume's name; another user of the box, or another state, has another home."""
    state = digest_of(str(paths.homes).encode())[7:13]
    return f"glovebox-home-{project_slug(project)}-{uid}-{state}"


def own_homes(paths: Paths, engine: Engine) -> list[HomeVolume]:
    """Return the homes that sessions of this state made, by project."""
    return [home for home in list_homes(engine) if home.folder.parent == paths.homes]


def prepare_home(spec: HomeSpec, *, paths: Paths, engine: Engine) -> Mount:
    """Return the mount of the project's home; made and handed to its user where there is none."""
    name = home_name(spec.project, spec.uid, paths=paths)
    folder = paths.homes / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder, wait=True):
        found = made_mark(engine, name, project=str(spec.project))
        # A volume that is not known to be handed over may still belong to root.
        if found is None or found != _read(folder / _READY):
            made = _make(spec, name, folder=folder, engine=engine)
            (folder / _READY).write_text(made, "utf-8")
    return Mount("volume", name, spec.target)


def forget_home(name: str, *, paths: Paths, engine: Engine) -> None:
    """Remove a home; EngineError while a box uses it."""
    remove_volume(engine, name, patience_s=_RELEASE_S)
    folder = paths.homes / name
    for file in (_READY, "lock"):
        (folder / file).unlink(missing_ok=True)
    if folder.exists():
        folder.rmdir()


def forget_lost_homes(paths: Paths, engine: Engine) -> list[str]:
    """Remove the homes of projects that are gone, and return those projects.

    Where the folder above is gone too, the disk may only be away: that home stays.
    """
    lost = []
    for home in own_homes(paths, engine):
        project = Path(home.project)
        if not is_gone(project) or is_gone(project.parent):
            continue
        try:
            forget_home(home.name, paths=paths, engine=engine)
        except EngineUnavailable:
            raise
        except EngineError:
            # A box still uses it; the next sweep comes.
            continue
        lost.append(home.project)
    return lost


def _make(spec: HomeSpec, name: str, *, folder: Path, engine: Engine) -> str:
    remove_volume(engine, name)
    create_volume(engine, name, owner=HomeOwner(spec.project, folder))
    mount = Mount("volume", name, spec.target)
    with copier(engine, spec.image, mount, labels=spec.labels) as helper:
        helper.put("/", [_own_directory(spec)])
    return made_mark(engine, name, project=str(spec.project)) or ""


def _own_directory(spec: HomeSpec) -> bytes:
    """Return a tar of the directory alone, which the engine unpacks over the volume's root."""
    member = tarfile.TarInfo(spec.target.strip("/"))
    member.type, member.mode = tarfile.DIRTYPE, _MODE
    member.uid, member.gid = spec.uid, spec.gid
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(member)
    return stream.getvalue()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
