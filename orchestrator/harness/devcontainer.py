"""``devcontainer.json`` as far as a box can follow it; everything else is told in a notice.

The file is the repository's, so nothing of it is trusted: it names an image or a build, variables
and a first command, and none of them takes effect before a person said yes.
"""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import json5
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.errors import UsageError
from orchestrator.harness.devcontainer_faults import (
    INSTEAD,
    image_fault,
    missing_fault,
    shape_fault,
    syntax_fault,
)
from orchestrator.harness.devcontainer_values import Command, command_lines, written_variables
from orchestrator.workspace.build_context import read_text
from orchestrator.workspace.tree import open_tree

MAX_LENGTH = 64 * 1024
"""Characters of a file; the reader of JSON with comments is slow, and runs before any question."""
PLACES = (".devcontainer/devcontainer.json", ".devcontainer.json")
_SILENT = frozenset(
    {"$schema", "name", "customizations", "settings", "extensions", "hostRequirements"}
)
"""Keys for editors and the like; leaving them out changes nothing in a box."""

_PROJECT = "${localWorkspaceFolder}"
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]*")

Written = Annotated[str, Field(min_length=1)]


class Build(BaseModel):
    """Where an image is built from, all paths relative to the file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    dockerfile: Written | None = None
    context: str = "."
    args: dict[str, str] = Field(default_factory=dict)
    target: str | None = None


class Described(BaseModel):
    """The keys that are followed."""

    model_config = ConfigDict(extra="allow", frozen=True)

    image: str | None = None
    build: Build | None = None
    docker_file: Written | None = Field(default=None, alias="dockerFile")
    context: str | None = None
    container_env: dict[str, str | None] = Field(default_factory=dict, alias="containerEnv")
    remote_env: dict[str, str | None] = Field(default_factory=dict, alias="remoteEnv")
    post_create: Command | None = Field(default=None, alias="postCreateCommand")


@dataclass(frozen=True, slots=True)
class DevContainer:
    """What a project asks for."""

    path: str
    """Of its file, relative to the project."""
    text: str
    image: str | None
    dockerfile: str | None
    """Relative to the project; exactly one of this and ``image`` is given."""
    context: str
    args: Mapping[str, str]
    target: str | None
    environment: Mapping[str, str]
    """As written, variables of the host gone."""
    commands: tuple[str, ...]
    """To run in the box before the agent starts."""
    notices: tuple[str, ...]


def find_devcontainer(project: Path) -> DevContainer | None:
    """Return what the project asks for, None where it asks for nothing; UsageError for nonsense."""
    for path in (*PLACES, *_nested(project)):
        text = read_text(project, path)
        if text is not None:
            return parse_devcontainer(text, path=path)
    return None


def parse_devcontainer(text: str, *, path: str) -> DevContainer:
    """Return what a file asks for; UsageError where it cannot be understood."""
    if len(text) > MAX_LENGTH:
        raise UsageError(
            f"{path}: expected at most {MAX_LENGTH} characters, got {len(text)}",
            hint=f"shorten it; {INSTEAD}",
        )
    try:
        data = json5.loads(text)
        described = Described.model_validate(data)
    except ValidationError as error:
        raise shape_fault(path, data, error) from error
    except (ValueError, RecursionError) as error:
        raise syntax_fault(path, error) from error
    folder = posixpath.dirname(path)
    dockerfile, context, build = _build(described)
    if dockerfile is None:
        if described.image is None:
            raise missing_fault(path, data)
        if not _IMAGE.fullmatch(described.image):
            raise image_fault(path, described.image)
    notices = _unsupported(data)
    environment = written_variables({**described.container_env, **described.remote_env}, notices)
    return DevContainer(
        path=path,
        text=text,
        image=None if dockerfile else described.image,
        dockerfile=_inside(folder, dockerfile, path) if dockerfile else None,
        context=_inside(folder, context, path),
        args=build.args if build else {},
        target=build.target if build else None,
        environment=environment,
        commands=command_lines(described.post_create),
        notices=tuple(f"{path}: {notice}" for notice in notices),
    )


def _nested(project: Path) -> list[str]:
    """Return each ``.devcontainer/NAME/devcontainer.json``; the first by name is taken."""
    with open_tree(project) as tree:
        folder = tree.lstat(".devcontainer")
        if folder is None or not stat.S_ISDIR(folder.st_mode):
            return []
        names = [found.path for found in tree.children(".devcontainer")]
        files = [f"{name}/devcontainer.json" for name in names]
        return [path for path in files if tree.lstat(path) is not None]


def _build(described: Described) -> tuple[str | None, str, Build | None]:
    build = described.build
    if build is not None and build.dockerfile is not None:
        return build.dockerfile, build.context, build
    if described.docker_file is not None:
        return described.docker_file, described.context or ".", build
    return None, ".", None


def _inside(folder: str, path: str, place: str) -> str:
    """Return a path of the file relative to the project; UsageError where it leads out."""
    whole = path.startswith(_PROJECT)
    below = path.removeprefix(_PROJECT).lstrip("/") if whole else posixpath.join(folder, path)
    joined = posixpath.normpath(below or ".")
    if joined.startswith(("..", "/")):
        raise UsageError(
            f"{place}: expected a path inside the project, got {path!r}, which leads out of the "
            "project",
            hint=f"paths are relative to the file that names them; {INSTEAD}",
        )
    return joined


def _unsupported(data: Mapping[str, Any]) -> list[str]:
    followed = {"image", "build", "dockerFile", "context", "containerEnv", "remoteEnv"}
    reasons = {
        "features": "features are not installed; put what you need into the Dockerfile",
        "remoteUser": "remoteUser is not used: commands run as your own uid",
        "containerUser": "containerUser is not used: commands run as your own uid",
        "initializeCommand": "initializeCommand would run on this machine and never does",
        "dockerComposeFile": "Compose files are not used; see 'services' of the policy",
    }
    notices = [reason for key, reason in reasons.items() if key in data]
    others = set(data) - followed - set(reasons) - _SILENT - {"postCreateCommand"}
    if others:
        notices.append(f"not used: {', '.join(sorted(others))}")
    return notices
