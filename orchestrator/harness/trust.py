"""What a person said about a project, its image and its policy, in the host's state, never in the repository.

An answer holds for exactly the inputs it was given for; change one byte and the question comes again.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.config.paths import Paths, project_slug
from orchestrator.errors import ConfigError
from orchestrator.named_file import opened_regular
from orchestrator.schema.ids import Digest


class TrustAnswer(BaseModel):
    """One answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    digest: str
    """Of all inputs."""
    what: str
    """The file that describes the image, relative to the project."""
    answer: Literal["yes", "no"]
    by: str
    time: str
    """When, in UTC."""
    kind: Literal["image", "policy", "project"] = "image"
    """What was asked about."""
    text: str = ""
    """What was said yes to, where a later change is shown as a difference."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    directory: str
    answers: tuple[TrustAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectTrust:
    """The answers of one project."""

    directory: str
    answers: tuple[TrustAnswer, ...]


class TrustStore:
    """A file a project below ``trust`` in the state directory."""

    def __init__(self, paths: Paths) -> None:
        """Keep answers in this state directory; nothing is made before the first."""
        self._folder = paths.state / "trust"

    def answer(self, project: Path, digest: Digest) -> TrustAnswer | None:
        """Return the answer for these inputs, None where there is none."""
        found = self._load(project)
        wanted = (digest, "image")
        return next((each for each in found.answers if (each.digest, each.kind) == wanted), None)

    def remember(
        self, project: Path, digest: Digest, *, what: str, yes: bool, by: str
    ) -> TrustAnswer:
        """Keep an answer in place of an older one for the same inputs."""
        word: Literal["yes", "no"] = "yes" if yes else "no"
        answer = TrustAnswer(digest=digest, what=what, answer=word, by=by, time=now())
        old = (
            each
            for each in self._load(project).answers
            if (each.digest, each.kind) != (digest, "image")
        )
        self._save(project, (*old, answer))
        return answer

    def vouched(self, project: Path) -> bool | None:
        """Say whether a person vouches for what is in the directory; None: nobody was asked."""
        found = [each for each in self._load(project).answers if each.kind == "project"]
        return found[-1].answer == "yes" if found else None

    def vouch(self, project: Path, *, yes: bool, by: str) -> TrustAnswer:
        """Keep whether a person vouches for the directory, in place of an older word."""
        answer = TrustAnswer(
            digest="",
            what="the directory",
            answer="yes" if yes else "no",
            by=by,
            time=now(),
            kind="project",
        )
        others = (each for each in self._load(project).answers if each.kind != "project")
        self._save(project, (*others, answer))
        return answer

    def pinned(self, project: Path) -> TrustAnswer | None:
        """Return the yes to a project's own policy, with its text; None where there is none."""
        found = self._load(project).answers
        return next((each for each in found if each.kind == "policy"), None)

    def pin(self, project: Path, digest: Digest, *, what: str, text: str, by: str) -> None:
        """Keep a yes to a project's own policy, in place of the one before."""
        answer = TrustAnswer(
            digest=digest,
            what=what,
            answer="yes",
            by=by,
            time=now(),
            kind="policy",
            text=text,
        )
        self._save(project, (*self._without_pin(project), answer))

    def unpin(self, project: Path) -> None:
        """Forget the yes to a project's own policy."""
        if left := self._without_pin(project):
            self._save(project, left)
        else:
            self._file(project).unlink(missing_ok=True)

    def _without_pin(self, project: Path) -> tuple[TrustAnswer, ...]:
        return tuple(each for each in self._load(project).answers if each.kind != "policy")

    def revoke(self, project: Path) -> int:
        """Forget every answer of a project and return how many there were."""
        count = len(self._load(project).answers)
        self._file(project).unlink(missing_ok=True)
        return count

    def projects(self) -> list[ProjectTrust]:
        """Return all answers, by project."""
        files = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        loaded = [_read(path) for path in files]
        return [ProjectTrust(file.directory, file.answers) for file in loaded if file]

    def _load(self, project: Path) -> _File:
        found = _read(self._file(project))
        return found or _File(directory=str(project))

    def _save(self, project: Path, answers: tuple[TrustAnswer, ...]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._file(project)
        data = {"version": 1, "directory": str(project)}
        rows = [each.model_dump(exclude_defaults=True) for each in answers]
        fresh = path.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(json.dumps(data | {"answers": rows}, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)

    def _file(self, project: Path) -> Path:
        return self._folder / f"{project_slug(project)}.json"


def now() -> str:
    """Return this moment as answers carry it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def as_rows(projects: list[ProjectTrust]) -> list[dict[str, object]]:
    """Return the answers as data for a machine."""
    return [
        asdict(project)
        | {"answers": [each.model_dump(exclude={"text"}) for each in project.answers]}
        for project in projects
    ]


def _read(path: Path) -> _File | None:
    try:
        with opened_regular(path) as file:
            return _File.model_validate_json(file.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as error:
        # Never a yes by accident, and never a silent new question either.
        raise ConfigError(
            f"{path}: cannot be read as answers about projects: {type(error).__name__}",
            hint=f"remove it to be asked again: rm {path}",
        ) from error
