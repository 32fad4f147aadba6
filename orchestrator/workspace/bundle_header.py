"""Reads the head of a git bundle that a box made: which commits it offers, and what it needs.

The head alone is read here, strictly; the pack behind it goes to ``quarantine``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO

from orchestrator.errors import WorkspaceError
from orchestrator.schema.terminal_text import escape_terminal

MOST_BRANCHES = 200
_MOST_PREREQUISITES = 20_000
_MOST_LINE = 4096
_MOST_NAME = 200
_SIGNATURE = re.compile(rb"# v([23]) git bundle\n")
_OBJECT_ID = re.compile("(?:[0-9a-f]{40}|[0-9a-f]{64})")
_FORBIDDEN = re.compile(r"[ ~^:?*\[\\]|\.\.|@\{|//")
DETACHED = "detached-head"
"""The branch that commits on no branch come out as."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One tip that a box offers."""

    name: str
    """Without ``refs/heads/``; in a head, checked to be a name that can be shown as it is."""
    tip: str
    """Object id, hex."""


@dataclass(frozen=True, slots=True)
class RefusedBranch:
    """One that is left in the box, while the others may go."""

    name: str
    """Raw: escape it before a terminal sees it."""
    reason: str


@dataclass(frozen=True, slots=True)
class BundleHeader:
    """What stands before the pack."""

    branches: tuple[Branch, ...]
    needs: tuple[str, ...]
    """Commits that the reader must have."""
    form: str
    """``sha1`` or ``sha256``."""
    length: int
    """Bytes of the head; the pack begins there."""
    refused: tuple[RefusedBranch, ...] = ()
    """Whose names are not taken."""


def read_header(file: IO[bytes]) -> BundleHeader:
    """Return the head of an open bundle; WorkspaceError for anything that git does not write."""
    signature = _SIGNATURE.fullmatch(file.readline(_MOST_LINE))
    if signature is None:
        raise _broken("it is no git bundle")
    form, line = _capabilities(file, version=int(signature[1]))
    branches: list[Branch] = []
    refused: list[RefusedBranch] = []
    needs: list[str] = []
    while line != b"\n":
        text = line.decode("utf-8", "surrogateescape")
        if not text.endswith("\n"):
            raise _broken("a line of its head is too long or cut")
        if text.startswith("-"):
            needs.append(_object_id(text[1:].split(" ", 1)[0].rstrip("\n"), form))
        else:
            branch = _branch(text.rstrip("\n"), form)
            why = name_refusal(branch.name)
            if why:
                refused.append(RefusedBranch(branch.name[:_MOST_NAME], why))
            else:
                branches.append(branch)
        if len(branches) + len(refused) > MOST_BRANCHES or len(needs) > _MOST_PREREQUISITES:
            raise _broken(f"it offers more than {MOST_BRANCHES} branches, or needs too much")
        line = file.readline(_MOST_LINE)
    if not branches and not refused:
        raise _broken("it offers no branch")
    if len({branch.name for branch in branches}) < len(branches):
        raise _broken("it offers a branch twice")
    return BundleHeader(tuple(branches), tuple(needs), form, file.tell(), tuple(refused))


def _capabilities(file: IO[bytes], *, version: int) -> tuple[str, bytes]:
    """Return the object format and the first line behind the capabilities."""
    form = "sha1"
    line = file.readline(_MOST_LINE)
    while version == 3 and line.startswith(b"@"):
        if line not in {b"@object-format=sha1\n", b"@object-format=sha256\n"}:
            raise _broken(f"it asks for {_shown(line)}, which is not taken")
        form = line.decode().strip().partition("=")[2]
        line = file.readline(_MOST_LINE)
    return form, line


def _branch(line: str, form: str) -> Branch:
    tip, _, ref = line.partition(" ")
    name = DETACHED if ref == "HEAD" else ref.removeprefix("refs/heads/")
    if ref != "HEAD" and not ref.startswith("refs/heads/"):
        raise _broken(f"{_shown(ref)} is no branch")
    return Branch(name, _object_id(tip, form))


def name_refusal(name: str) -> str:
    """Return why a branch of this name is not taken; empty where it is."""
    if not name or len(name) > _MOST_NAME:
        return f"its name is empty or longer than {_MOST_NAME} characters"
    if escape_terminal(name) != name or _FORBIDDEN.search(name) or name == "@":
        return "its name has characters that branch names may not have"
    for part in name.split("/"):
        if not part or part.startswith((".", "-")) or part.endswith((".", ".lock")):
            return "a part of its name is empty, or begins or ends as none may"
    return ""


def _object_id(text: str, form: str) -> str:
    if not _OBJECT_ID.fullmatch(text) or len(text) != {"sha1": 40, "sha256": 64}[form]:
        raise _broken(f"{_shown(text)} is no object's name")
    return text


def _broken(why: str) -> WorkspaceError:
    return WorkspaceError(
        f"the commits from the box are refused: {why}",
        hint="the files themselves can still be applied with `glovebox apply`",
    )


def _shown(text: str | bytes) -> str:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return repr(escape_terminal(text.strip()[:100]))
