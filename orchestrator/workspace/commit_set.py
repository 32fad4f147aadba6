"""The commits that a box made, judged: data for the question, for events and for JSON. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from orchestrator.schema.ids import SessionId
from orchestrator.workspace.bundle_header import RefusedBranch
from orchestrator.workspace.judge import Rules, link_refusal
from orchestrator.workspace.plain_repositories import MEANING, PlainRepositories
from orchestrator.workspace.raw_commits import RawCommit, RawFile

_SYMLINK = 0o120000
_SUBMODULE = 0o160000
_EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class CommitFile:
    """One path that the commits of a branch touch; raw: escape it before a terminal sees it."""

    path: str
    protected: str = ""
    """Why it is taken only on an explicit yes; empty for other paths."""
    runs_on_host: str = ""
    """What on the host would run it or obey it once it is checked out."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; every text is untrusted."""

    id: str
    author: str
    committer: str
    time: str
    subject: str
    parents: int


@dataclass(frozen=True, slots=True)
class BoxBranch:
    """One branch of the box with commits that the host lacks."""

    name: str
    tip: str
    target: str
    """The host's branch that it would become, without ``refs/heads/``."""
    commits: tuple[Commit, ...]
    """Newest first."""
    files: tuple[CommitFile, ...]

    @property
    def guarded(self) -> tuple[CommitFile, ...]:
        """The files that want an explicit yes."""
        return tuple(file for file in self.files if file.protected)


@dataclass(frozen=True, slots=True)
class BoxCommits:
    """All that a box would hand over; false where it is nothing."""

    session: SessionId
    branches: tuple[BoxBranch, ...] = ()
    digest: str = ""
    """SHA-256 of the bundle they were read from."""
    trouble: str = ""
    """Why none of them can be had; empty where they can."""
    refused: tuple[RefusedBranch, ...] = ()
    """Branches that cannot be had, while the others can."""

    def __bool__(self) -> bool:
        """True where a person should hear of it."""
        return bool(self.branches or self.trouble or self.refused)

    @property
    def count(self) -> int:
        """How many commits, one on several branches counted once."""
        return len({commit.id for branch in self.branches for commit in branch.commits})


def target_branch(session: SessionId, name: str) -> str:
    """Return the host's branch for a branch of the box."""
    return f"glovebox/{session}/{name}"


def judge_commits(raw: Iterable[RawCommit]) -> tuple[Commit, ...]:
    """Return the commits as they are shown."""
    return tuple(
        Commit(
            one.id,
            one.author,
            one.committer,
            one.time,
            (one.message.strip().splitlines() or [""])[0],
            len(one.parents),
        )
        for one in raw
    )


def judge_files(
    raw: Iterable[RawFile], rules: Rules, link_target: Callable[[str], str]
) -> tuple[CommitFile, ...]:
    """Return each touched path once, with the gravest of what its versions are."""
    found: dict[str, CommitFile] = {}
    given = list(raw)
    plain = PlainRepositories((one.path for one in given if one.mode), rules.on_host)
    for one in given:
        before = found.get(one.path, CommitFile(one.path))
        effect = rules.effect(one.path) if one.mode else ""
        in_plain_sight = bool(one.mode) and plain.own(one.path)
        effect = effect or (MEANING if in_plain_sight else "")
        if not effect and one.mode and one.mode & 0o170000 == 0o100000 and one.mode & _EXECUTABLE:
            effect = "program"
        found[one.path] = CommitFile(
            one.path,
            before.protected
            or _guard(one, rules, link_target)
            or ("it is a part of a git repository in plain sight" if in_plain_sight else ""),
            before.runs_on_host or effect,
        )
    return tuple(found[path] for path in sorted(found))


def encode_commits(commits: BoxCommits) -> dict[str, Any]:
    """Return the commits as JSON data."""
    return {
        "count": commits.count,
        "trouble": commits.trouble,
        "branches": [_encode_branch(branch) for branch in commits.branches],
        "refused": [{"name": one.name, "reason": one.reason} for one in commits.refused],
    }


def branch_rows(branches: Iterable[BoxBranch]) -> tuple[dict[str, Any], ...]:
    """Return one row a branch, for events and records."""
    return tuple(
        {
            "branch": branch.name,
            "target": branch.target,
            "tip": branch.tip,
            "commits": len(branch.commits),
        }
        for branch in branches
    )


def _encode_branch(branch: BoxBranch) -> dict[str, Any]:
    return {
        "name": branch.name,
        "tip": branch.tip,
        "target": branch.target,
        "commits": [
            {"id": c.id, "author": c.author, "time": c.time, "subject": c.subject}
            for c in branch.commits
        ],
        "files": [
            {"path": file.path}
            | ({"protected": file.protected} if file.protected else {})
            | ({"runs_on_host": file.runs_on_host} if file.runs_on_host else {})
            for file in branch.files
        ],
    }


def _guard(one: RawFile, rules: Rules, link_target: Callable[[str], str]) -> str:
    if rules.hidden.covers(one.path):
        return "policy hides this path from the box"
    if rules.protected.covers(one.path):
        return "policy protects it"
    if note := rules.guarded_by_windows(one.path):
        return note
    if one.mode == _SUBMODULE:
        return "it is a submodule"
    if one.mode == _SYMLINK:
        return link_refusal(one.path, link_target(one.blob))
    return ""
