"""A file of a package that was fetched: what it was, and whether its bytes are what was announced."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.schema.packages import Ecosystem


@dataclass(frozen=True, slots=True)
class Artefact:
    """One that passed, whole or in part."""

    ecosystem: Ecosystem
    name: str
    version: str
    """Empty where its address does not say it."""
    file: str
    host: str
    size: int
    """Bytes that passed."""
    sha256: str
    """Of these bytes, hexadecimal."""
    announced: str = ""
    """``ALGORITHM:HEX`` by its index page; empty where none was read."""
    matches: bool | None = None
    """Whether the bytes are the announced ones; None where that cannot be told."""
    problem: str = ""
    """Why it is not all of the file; empty where it is."""


def artefact_to_wire(artefact: Artefact) -> dict[str, Any]:
    """Return it as JSON data."""
    return asdict(artefact)


def artefact_line(artefact: Artefact) -> str:
    """Return it for a person, raw: what it is, how large, its digest, and what is wrong with it."""
    what = f"{artefact.ecosystem} {artefact.name}"
    if artefact.version:
        what += f" {artefact.version}"
    line = f"{what}: {artefact.file}, {artefact.size} bytes, sha256:{artefact.sha256}"
    if artefact.matches is False:
        line += f"; MISMATCH: the index announced {artefact.announced}"
    elif artefact.matches:
        line += "; as announced"
    return f"{line}; {artefact.problem}" if artefact.problem else line
