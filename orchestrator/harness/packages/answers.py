"""What the clients of an image named, kept by the image's digest: an image never answers anew."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from orchestrator.config.paths import Paths
from orchestrator.egress.packages.client import Client
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.egress.packages.places import place_of
from orchestrator.named_file import opened_regular
from orchestrator.schema.ids import Digest
from orchestrator.schema.packages import Ecosystem, PackagePlace

MOST_URLS = 64
FORMAT = 2
"""Of what is kept of an answer."""
_Text = Annotated[str, StringConstraints(max_length=4096)]


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """One client's: where it fetches from, or why that is not known."""

    urls: tuple[str, ...] = ()
    problem: str = ""


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    asked: _Text
    urls: list[_Text]
    problem: _Text


class _Answers(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    answers: dict[_Text, _Answer]


class AnswerStore:
    """The answers of one image; what this version would ask otherwise is asked again."""

    def __init__(self, paths: Paths, image: Digest) -> None:
        """Use a file below the state; nothing is touched yet."""
        self._path = paths.state / "packages" / f"{image.partition(':')[2]}.json"

    def read(self, ecosystems: Iterable[Ecosystem]) -> dict[Ecosystem, ClientAnswer]:
        """Return those that are known."""
        try:
            with opened_regular(self._path) as file:
                known = _Answers.model_validate_json(file.read()).answers
        except (OSError, ValidationError):
            # Nothing yet, or of another version: the image is asked, which costs a second.
            return {}
        return {
            name: ClientAnswer(tuple(answer.urls), answer.problem)
            for name in ecosystems
            if (answer := known.get(name)) is not None and answer.asked == _asked(CLIENTS[name])
        }

    def keep(self, answers: Mapping[Ecosystem, ClientAnswer]) -> None:
        """Keep them beside what is known of the image's other clients."""
        known = {**self.read(CLIENTS), **answers}
        data = _Answers(
            answers={
                name: _Answer(
                    asked=_asked(CLIENTS[name]), urls=list(answer.urls), problem=answer.problem
                )
                for name, answer in known.items()
            }
        )
        _replace(self._path, data.model_dump_json().encode())


def read_answer(client: Client, said: str) -> ClientAnswer:
    """Return what a client's output names, without passwords; or why it names nothing."""
    try:
        places = [place_of(client.ecosystem, url) for url in client.addresses(said)]
    except (ValueError, SyntaxError) as err:
        return ClientAnswer(problem=f"its settings cannot be read: {err}")
    urls = [_plain(place) for place in places if place is not None]
    if not urls:
        return ClientAnswer(problem="its settings name no server by a plain name")
    return ClientAnswer(tuple(dict.fromkeys(urls))[:MOST_URLS])


def places_in(answers: Mapping[Ecosystem, ClientAnswer]) -> tuple[PackagePlace, ...]:
    """Return the places that the answers name."""
    found = (place_of(name, url) for name, answer in answers.items() for url in answer.urls)
    return tuple(place for place in found if place is not None)


def _plain(place: PackagePlace) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"{place.scheme}://{host}:{place.port}{place.pages}"


def _asked(client: Client) -> str:
    return hashlib.sha256(f"{FORMAT}\n{client.command}".encode()).hexdigest()


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(data)
    fresh.chmod(0o600)
    fresh.replace(path)
