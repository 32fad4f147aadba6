"""Containers: create, attach, start, end and find them. Everything blocks; call it from a thread."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docker.errors import APIError, NotFound

from orchestrator.engine.attachment import Attachment, plain_socket
from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND, OWNER, SESSION, is_alive
from orchestrator.errors import EngineError

COPIER_PATIENCE_S = 3600.0
"""A copier without an owner is left alone for so long: somebody may be copying."""

_CONFLICT = 409
_GONE_S = 20.0
_STEP_S = 0.005


@dataclass(frozen=True, slots=True)
class FoundContainer:
    """One container of ours, by its labels."""

    id: str
    session: str
    kind: str
    owner: str
    created: float
    """Seconds since the epoch."""
    state: str
    """``created running paused exited …``."""


def create_container(engine: Engine, name: str, options: Mapping[str, Any]) -> str:
    """Create a container from the engine's own terms; returns its id.

    The SDK's own shaping of options is passed by: it would add the proxy settings of the user's
    docker configuration, credentials included, to the container's environment.
    """
    with translated(f"create container {name}"):
        created = engine.api.create_container_from_config(dict(options), name=name)  # type: ignore[no-untyped-call]  # the stubs' gap
    return str(created["Id"])


def attach(engine: Engine, container: str) -> Attachment:
    """Take hold of a container's standard streams; do it before the start, or output is lost."""
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    with translated("attach to the container"):
        stream = engine.api.attach_socket(container, params=wanted)
    return plain_socket(stream)


def start_container(engine: Engine, container: str) -> None:
    """Start a created container."""
    with translated("start the container"):
        engine.api.start(container)


def remove_container(engine: Engine, container: str) -> None:
    """End the container if it runs, and return when it is gone; one that is gone is no error.

    Close every attachment first: an engine may wait for one that nobody reads.
    """
    deadline = time.monotonic() + _GONE_S
    asked = False
    while _exists(engine, container):
        if not asked:
            asked = _ask_to_remove(engine, container)
        if time.monotonic() > deadline:
            raise EngineError(
                f"container {container[:12]}: still there {_GONE_S:.0f} s after its removal",
                hint=f"run `docker rm -f {container[:12]}`",
            )
        time.sleep(_STEP_S)


def wait_gone(engine: Engine, container: str, seconds: float) -> bool:
    """Say whether the container went by itself within the time."""
    deadline = time.monotonic() + seconds
    while _exists(engine, container):
        if time.monotonic() > deadline:
            return False
        time.sleep(_STEP_S)
    return True


def has_ended(engine: Engine, container: str) -> bool:
    """Say whether a started container's main process is over."""
    with translated("look at the container"):
        state = engine.api.inspect_container(container)["State"]
    return not state["Running"]


def last_words(engine: Engine, container: str, *, lines: int = 12) -> str:
    """Return the end of what a container with a log printed, raw."""
    with translated("read the container's log"):
        said: bytes = engine.api.logs(container, stdout=True, stderr=True, tail=lines)
    return said.decode("utf-8", "replace")


def find_containers(engine: Engine, **labels: str) -> list[FoundContainer]:
    """Return all containers of ours, running or not; narrowed by ``session`` and ``kind``."""
    # By kind: a container for copying may belong to no session.
    wanted = [KIND, *(f"glovebox.{name}={value}" for name, value in labels.items())]
    with translated("list containers"):
        found = engine.api.containers(all=True, filters={"label": wanted})
    return [_found(item) for item in found]


def leftovers(
    containers: list[FoundContainer], *, now: float, same_machine: bool
) -> list[FoundContainer]:
    """Return those that a dead process left; what may still be somebody's is not among them."""
    dead = []
    for container in containers:
        if container.owner:
            gone = not is_alive(container.owner, same_machine=same_machine)
        else:
            gone = now - container.created > COPIER_PATIENCE_S
        if gone:
            dead.append(container)
    return dead


def _exists(engine: Engine, container: str) -> bool:
    with translated("look for the container"):
        try:
            engine.api.inspect_container(container)
        except NotFound:
            return False
        except APIError as err:
            if _is_gone(err):
                return False
            raise
    return True


def _is_gone(err: APIError) -> bool:
    """Podman fails with a 500 in the moment in which it removes a container by itself."""
    return err.is_server_error() and "no such container" in str(err.explanation)


def _ask_to_remove(engine: Engine, container: str) -> bool:
    with translated("remove the container"):
        try:
            engine.api.remove_container(container, force=True, v=True)
        except NotFound:
            return True
        except APIError as err:
            if _is_gone(err):
                return True
            # The engine is at it already; or the container ends in this moment: ask again.
            if err.status_code == _CONFLICT:
                return False
            raise
    return True


def _found(item: Mapping[str, Any]) -> FoundContainer:
    labels = item.get("Labels") or {}
    return FoundContainer(
        id=str(item["Id"]),
        session=str(labels.get(SESSION, "")),
        kind=str(labels.get(KIND, "")),
        owner=str(labels.get(OWNER, "")),
        created=float(item.get("Created") or 0),
        state=str(item.get("State", "")),
    )
