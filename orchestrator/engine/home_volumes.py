"""Volumes that are a project's home in the box: found by label, kept until somebody removes them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from docker.errors import NotFound

from orchestrator.engine.client import Engine
from orchestrator.engine.failure import translated
from orchestrator.engine.labels import KIND
from orchestrator.engine.volumes import HOME_KIND, HOST_LABEL, MADE_LABEL, PROJECT_LABEL


@dataclass(frozen=True, slots=True)
class HomeVolume:
    """One project's home."""

    name: str
    project: str
    """Absolute path of the project directory on the host."""
    created: str
    """When the engine made it, as the engine writes it."""
    size: int | None
    """Bytes; None where the engine does not tell."""


def made_mark(engine: Engine, name: str, *, project: str) -> str | None:
    """Return what tells the project's volume from a later one; None where there is none of it.

    Not the time that the engine tells: that moves on whenever a file is made in the home.
    """
    with translated(f"look for volume {name}"):
        try:
            found = engine.api.inspect_volume(name)
        except NotFound:
            return None
    labels = found.get("Labels") or {}
    if (labels.get(KIND), labels.get(PROJECT_LABEL)) != (HOME_KIND, project):
        return None
    return labels.get(MADE_LABEL) or None


def list_homes(engine: Engine) -> list[HomeVolume]:
    """Return the homes that this host made, by project; sizes take the engine a moment."""
    wanted = {f"{KIND}={HOME_KIND}", f"{HOST_LABEL}={os.uname().nodename}"}
    with translated("list the homes of projects"):
        found = engine.api.df()["Volumes"] or []
    homes = [
        HomeVolume(
            name=str(volume["Name"]),
            project=labels[PROJECT_LABEL],
            created=str(volume["CreatedAt"]),
            size=_size(volume.get("UsageData") or {}),
        )
        for volume in found
        for labels in [volume.get("Labels") or {}]
        if wanted <= {f"{name}={value}" for name, value in labels.items()}
    ]
    return sorted(homes, key=lambda home: home.project)


def _size(usage: dict[str, int]) -> int | None:
    size = usage.get("Size", -1)
    return size if size >= 0 else None
