"""Puts a box's commits into words for a terminal, every text of the box escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.bundle_header import RefusedBranch
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits, Commit, CommitFile

_MOST_COMMITS = 50
_MOST_FILES = 100
_SHORT_ID = 12


def waiting_line(commits: BoxCommits) -> str:
    """Return one line that says what waits; empty where nothing does."""
    if commits.trouble:
        return f"commits: they cannot be fetched: {escape_terminal(commits.trouble)}"
    refused = f"{len(commits.refused)} of its branches cannot be fetched" if commits.refused else ""
    if not commits.branches:
        return f"commits: {refused}: glovebox apply --commits {commits.session}" if refused else ""
    names = ", ".join(escape_terminal(branch.name) for branch in commits.branches)
    more = f" ({refused})" if refused else ""
    count, session = commits.count, commits.session
    return f"commits: {count} on {names} wait: glovebox apply --commits {session}{more}"


def refused_lines(refused: Iterable[RefusedBranch]) -> Iterator[str]:
    """Yield which branches stay in the box while the others go, each with its reason."""
    for one in refused:
        yield f"not fetched: {escape_terminal(one.name)}: {escape_terminal(one.reason)}"


def branch_lines(branches: Iterable[BoxBranch]) -> Iterator[str]:
    """Yield what a person must know before a yes: commits, files, dangers."""
    for branch in branches:
        yield from _branch_lines(branch)


def _branch_lines(branch: BoxBranch) -> Iterator[str]:
    count = len(branch.commits)
    yield f"{escape_terminal(branch.name)} -> {escape_terminal(branch.target)}: {count} commits"
    for commit in branch.commits[:_MOST_COMMITS]:
        yield f"  {_commit(commit)}"
    if count > _MOST_COMMITS:
        yield f"  and {count - _MOST_COMMITS} older ones"
    flagged = [file for file in branch.files if file.protected or file.runs_on_host]
    plain = [file for file in branch.files if file not in flagged]
    yield f"  {len(branch.files)} files:"
    # What matters is never among those that are cut.
    for file in flagged:
        yield f"    {_file(file)}"
    for file in plain[:_MOST_FILES]:
        yield f"    {_file(file)}"
    if len(plain) > _MOST_FILES:
        yield f"    and {len(plain) - _MOST_FILES} more plain files"


def _commit(commit: Commit) -> str:
    author = escape_terminal(commit.author)
    if commit.committer != commit.author:
        author += f", committed by {escape_terminal(commit.committer)}"
    merge = ", merge" if commit.parents > 1 else ""
    return f"{commit.id[:_SHORT_ID]} {escape_terminal(commit.subject)} ({author}{merge})"


def _file(file: CommitFile) -> str:
    words = [f"runs on your machine: {file.runs_on_host}"] if file.runs_on_host else []
    words += [f"protected: {file.protected}"] if file.protected else []
    path = escape_terminal(file.path)
    return f"{path}  ({'; '.join(map(escape_terminal, words))})" if words else path
