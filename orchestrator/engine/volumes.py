"""Volumes of workspaces, and the copier: a container that is created, never started, and removed.

The engine mounts a container's volumes for its archive calls whether it runs or not, so files go
in and out of a volume without a process in it. Everything here blocks; call it from a thread.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from docker.errors import APIError, ImageNotFound, NotFound
from docker.types import Mount as EngineMount

from orchestrator.engine.archive_stream import archive_stream
from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND as KIND_LABEL
from orchestrator.engine.labels import SESSION as SESSION_LABEL
from orchestrator.errors import EngineError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount

WORKSPACE_KIND = "workspace"
HOME_KIND = "home"
COPIER_KIND = "copier"
FOLDER_LABEL = "glovebox.folder"
"""The session's folder on the host that made the volume."""
PROJECT_LABEL = "glovebox.project"
"""The project directory whose home a volume is."""
MADE_LABEL = "glovebox.made"
"""A random mark: another volume of the same name has another."""
HOST_LABEL = "glovebox.host"
"""That host's name: an engine may serve several."""

_CONFLICT = 409
_RELEASE_S = 10.0
"""A volume stays busy until the removal of its last container is through; 1 s was seen."""
_RELEASE_STEP_S = 0.1


@dataclass(frozen=True, slots=True)
class Layers:
    """An overlay's directories, host paths without ``,``, ``:`` and backslash."""

    lower: tuple[str, ...]
    """Topmost first."""
    upper: str
    work: str


@dataclass(frozen=True, slots=True)
class Copier:
    """A container that only carries a mount."""

    engine: Engine
    container: str
    _readings: ExitStack
    """Ended before the container is removed: the engine holds it while a reading is open."""

    def put(self, directory: str, archive: Iterable[bytes]) -> None:
        """Unpack a tar stream into a directory of the mount, owners as in its headers."""
        with translated(f"copy files into {directory}"):
            # The transport streams an iterator; of a list it would make form fields.
            self.engine.api.put_archive(self.container, directory, iter(archive))

    def get(self, directory: str) -> Iterator[bytes]:
        """Return the directory as a tar stream; its members begin with the directory's name."""
        return self._readings.enter_context(closing(self._read(directory)))

    def _read(self, directory: str) -> Generator[bytes]:
        with (
            translated(f"copy files out of {directory}"),
            archive_stream(self.engine, self.container, directory) as (chunks, _),
        ):
            yield from chunks


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose volume it is."""

    session: SessionId
    folder: Path
    """The session's folder in this host's state."""

    def labels(self) -> dict[str, str]:
        """Return what the volume is marked with."""
        return {
            SESSION_LABEL: self.session,
            KIND_LABEL: WORKSPACE_KIND,
            FOLDER_LABEL: str(self.folder),
            HOST_LABEL: os.uname().nodename,
        }


@dataclass(frozen=True, slots=True)
class HomeOwner:
    """Whose home a volume is."""

    project: Path
    """The project directory on this host."""
    folder: Path
    """What this host's state knows of the volume; another state has homes of its own."""

    def labels(self) -> dict[str, str]:
        """Return what the volume is marked with; no session, since it outlives them."""
        return {
            KIND_LABEL: HOME_KIND,
            MADE_LABEL: secrets.token_hex(8),
            PROJECT_LABEL: str(self.project),
            FOLDER_LABEL: str(self.folder),
            HOST_LABEL: os.uname().nodename,
        }


def create_volume(engine: Engine, name: str, *, owner: Owner | HomeOwner) -> None:
    """Create an empty volume; one of this name that exists is kept as it is."""
    with translated(f"create volume {name}"):
        engine.api.create_volume(name=name, driver="local", labels=owner.labels())


def create_overlay(engine: Engine, name: str, layers: Layers, *, owner: Owner) -> None:
    """Create a volume that is an overlay of host directories, or keep an equal one.

    Raises EngineError when a volume of this name has other layers.
    """
    lower = ":".join(layers.lower)
    # Under userxattr an opaque directory's mark is readable by a plain user of the host.
    given = f"lowerdir={lower},upperdir={layers.upper},workdir={layers.work},userxattr"
    options = {"type": "overlay", "device": "overlay", "o": given}
    with translated(f"create volume {name}"):
        engine.api.create_volume(
            name=name, driver="local", driver_opts=options, labels=owner.labels()
        )
        found = engine.api.inspect_volume(name).get("Options")
    if found != options:
        raise EngineError(
            f"volume {name}: expected the layers of this session, got others",
            hint=f"remove it with `docker volume rm {name}`",
        )


def require_volume(engine: Engine, name: str, *, session: SessionId) -> None:
    """Raise EngineError unless the volume is there and is the session's own.

    An engine makes a missing volume anew, empty, for whoever mounts it: everything in it would
    look deleted.
    """
    with translated(f"look for volume {name}"):
        try:
            labels = engine.api.inspect_volume(name).get("Labels") or {}
        except NotFound:
            labels = {}
    if labels.get(SESSION_LABEL) != session:
        raise EngineError(
            f"volume {name}: the engine no longer has the files of session {session}",
            hint=f"somebody removed the volume; `glovebox discard {session}` forgets the session's "
            "changes",
        )


def remove_volume(engine: Engine, name: str, *, patience_s: float = _RELEASE_S) -> None:
    """Remove a volume; returns when it is gone. One that is not there is no error."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            with translated(f"remove volume {name}"):
                try:
                    engine.api.remove_volume(name)
                except NotFound:
                    return
                except APIError as err:
                    if err.status_code != _CONFLICT or time.monotonic() > deadline:
                        raise
                else:
                    return
        except EngineError as err:
            err.hint = err.hint or f"see which container uses it: docker ps -a -f volume={name}"
            raise
        time.sleep(_RELEASE_STEP_S)


def running_with(engine: Engine, volume: str) -> list[str]:
    """Return the names of the containers that run, or are paused, with the volume mounted."""
    with translated(f"look for containers with volume {volume}"):
        found = engine.api.containers(filters={"volume": volume, "status": ["running", "paused"]})
    return sorted(container["Names"][0].lstrip("/") for container in found)


@contextmanager
def copier(
    engine: Engine, image: str, mount: Mount, *, labels: Mapping[str, str]
) -> Iterator[Copier]:
    """Create a container around one mount, and remove it at the end.

    The image's content does not matter, since nothing of it ever runs: where this one was removed
    meanwhile, any other does.
    """
    marks = {**labels, KIND_LABEL: COPIER_KIND}
    with translated("create a container for copying"):
        try:
            container = _create_copier(engine, image, mount, marks)
        except ImageNotFound:
            others = engine.api.images(quiet=True)
            if not others:
                raise
            container = _create_copier(engine, others[0], mount, marks)
    try:
        with ExitStack() as readings:
            yield Copier(engine, container, readings)
    finally:
        with translated("remove the container for copying"):
            engine.api.remove_container(container, force=True)


def _create_copier(engine: Engine, image: str, mount: Mount, labels: Mapping[str, str]) -> str:
    created = engine.api.create_container(
        image,
        ["/never-started"],
        host_config=engine.api.create_host_config(
            network_mode="none",
            cap_drop=["ALL"],
            mounts=[_engine_mount(mount)],
        ),
        network_disabled=True,
        labels=dict(labels),
    )
    return str(created["Id"])


def _engine_mount(mount: Mount) -> EngineMount:
    if mount.kind == "volume":
        # Else the engine fills an empty volume with what the image has at the target.
        return EngineMount(mount.target, mount.source, type="volume", no_copy=True)
    return EngineMount(mount.target, mount.source, type="bind")


def folders_of_volumes(engine: Engine) -> dict[str, Path]:
    """Return the session folders of the volumes that this host made, by volume name."""
    here = [f"{KIND_LABEL}={WORKSPACE_KIND}", f"{HOST_LABEL}={os.uname().nodename}"]
    with translated("list the volumes of workspaces"):
        found = engine.api.volumes(filters={"label": here})["Volumes"] or []
    labels = {volume["Name"]: volume["Labels"] for volume in found}
    return {name: Path(given[FOLDER_LABEL]) for name, given in labels.items()}


@contextmanager
def frozen(engine: Engine, volume: str) -> Iterator[None]:
    """Pause the containers that use a volume, so that it holds still while it is read."""
    paused: list[str] = []
    with translated(f"look for containers with volume {volume}"):
        running = engine.api.containers(filters={"volume": volume, "status": "running"})
    try:
        paused += [item["Id"] for item in running if _pause(engine, item["Id"])]
        yield
    finally:
        for container_id in paused:
            with translated("let the box go on"), suppress(NotFound):
                engine.api.unpause(container_id)


def _pause(engine: Engine, container: str) -> bool:
    """Pause a container; False for one that ends in this moment, or holds still already."""
    with translated("pause the box"):
        try:
            engine.api.pause(container)
        except NotFound:
            return False
        except APIError as err:
            if err.status_code != _CONFLICT:
                raise
            return False
    return True
