"""A repository of ours in which a box's commits are unpacked, checked and looked at.

It borrows the host's objects and none of its settings. Nothing reaches the host's repository
before everything here has held.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from orchestrator.errors import WorkspaceError
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.bundle_header import BundleHeader, read_header
from orchestrator.workspace.host_git import GitFailed, HostGit
from orchestrator.workspace.host_repository import HostRepository
from orchestrator.workspace.raw_commits import RawCommit, RawFile

MOST_COMMITS = 10_000
_MOST_HOST_TIPS = 1000
"""Newest first; a box offers nothing that these have."""
_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%cI%x00%B"


def host_tips(repository: HostRepository) -> list[str]:
    """Return the commits that the host's branches, the borrowed ones and HEAD point to."""
    listed = repository.git.text(
        "for-each-ref",
        f"--count={_MOST_HOST_TIPS}",
        "--sort=-committerdate",
        "--format=%(objectname) %(objecttype)",
        "refs/heads",
        "refs/remotes",
    )
    tips = [line.split()[0] for line in listed.splitlines() if line.endswith(" commit")]
    # A repository without a commit has no HEAD yet.
    with suppress(GitFailed):
        tips.append(repository.git.text("rev-parse", "-q", "--verify", "HEAD^{commit}"))
    return list(dict.fromkeys(tips))


@dataclass(slots=True)
class Quarantine:
    """The checked content of one bundle."""

    git: HostGit
    header: BundleHeader
    bundle: Path
    tips: Sequence[str]
    """The host's own."""

    def commits(self, tip: str) -> list[str]:
        """Return the ids of the commits that a tip adds to the host's, newest first.

        Of more than ``MOST_COMMITS`` one more than that.
        """
        feed = _lines([tip, *(f"^{known}" for known in self.tips)])
        return self.git.text(
            "rev-list", "--topo-order", f"--max-count={MOST_COMMITS + 1}", "--stdin", feed=feed
        ).split()

    def read_commits(self, ids: Iterable[str]) -> list[RawCommit]:
        """Return the commits in the order given."""
        form = ("log", "--no-walk=unsorted", "--stdin", "-z", "--no-notes", f"--format={_FORMAT}")
        found = []
        feed = _lines(ids)
        if not feed:
            return []
        fields = self.git.output(*form, feed=feed).decode("utf-8", "replace").split("\0")
        for start in range(0, len(fields) - 7, 8):
            one, parents, author, mail, committer, other, time, message = fields[start : start + 8]
            found.append(
                RawCommit(
                    one,
                    tuple(parents.split()),
                    f"{author} <{mail}>",
                    f"{committer} <{other}>",
                    time,
                    message,
                )
            )
        return found

    def read_files(self, ids: Iterable[str]) -> list[RawFile]:
        """Return what each commit changes against each of its parents."""
        feed = _lines(ids)
        if not feed:
            return []
        out = self.git.output(
            *("diff-tree", "--stdin", "-r", "-z", "-m", "--root", "--raw", "--no-renames"),
            *("--no-ext-diff", "--no-textconv", "--no-abbrev"),
            feed=feed,
        )
        found, commit = [], ""
        tokens = iter(out.decode("utf-8", "surrogateescape").split("\0"))
        for token in tokens:
            if token.startswith(":"):
                _, mode, _, blob, _ = token.split(" ")
                found.append(RawFile(commit, next(tokens), int(mode, 8), blob))
            elif token:
                commit = token.split()[0]
        return found

    def link_target(self, blob: str) -> str:
        """Return a symlink's target."""
        return self.git.output("cat-file", "blob", blob).decode("utf-8", "surrogateescape")


def open_quarantine(folder: Path, bundle: Path, repository: HostRepository) -> Quarantine:
    """Unpack and check a bundle in ``folder``, made anew; WorkspaceError where anything is odd."""
    shutil.rmtree(folder, ignore_errors=True)
    tips = host_tips(repository)
    with bundle.open("rb") as file:
        header = read_header(file)
        if header.form != repository.form:
            raise _refused(f"its objects are {header.form}, the host's are {repository.form}")
        git = _make(folder, repository)
        quarantine = Quarantine(git, header, bundle, tips)
        _check_needs(git, header)
        unpack(git, file, header)
    try:
        # Every object that the tips reach must be there; what the host has is not walked again.
        ends = [branch.tip for branch in header.branches]
        feed = _lines([*ends, *(f"^{known}" for known in tips)])
        git.output("rev-list", "--objects", "--quiet", "--stdin", feed=feed)
        for end in ends:
            if git.text("cat-file", "-t", end) != "commit":
                raise _refused("a branch points to something that is no commit")
    except GitFailed as err:
        raise _refused(f"their history has gaps ({_said(err)})") from err
    return quarantine


def unpack(git: HostGit, file: IO[bytes], header: BundleHeader) -> None:
    """Write the pack behind the head into a repository, every object checked by git's own rules."""
    # The descriptor itself must stand where the pack begins: git does not see our buffer.
    os.lseek(file.fileno(), header.length, os.SEEK_SET)
    try:
        git.read_from(file, "index-pack", "--stdin", "--fix-thin", "--strict")
    except GitFailed as err:
        raise _refused(f"git's check of the objects failed ({_said(err)})") from err


def _make(folder: Path, repository: HostRepository) -> HostGit:
    if "\n" in repository.objects:
        raise WorkspaceError("the path of the host's repository holds a line feed")
    for name in ("objects/info", "objects/pack", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    version = "1" if repository.form == "sha256" else "0"
    settings = f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n"
    if repository.form == "sha256":
        settings += "[extensions]\n\tobjectformat = sha256\n"
    (folder / "config").write_text(settings)
    (folder / "objects/info/alternates").write_text(f"{repository.objects}\n")
    if repository.shallow:
        (folder / "shallow").write_bytes(repository.shallow)
    return HostGit(str(folder))


def _check_needs(git: HostGit, header: BundleHeader) -> None:
    feed = _lines(header.needs)
    answers = git.text("cat-file", "--batch-check=%(objecttype)", feed=feed) if feed else ""
    if any(answer != "commit" for answer in answers.splitlines()):
        raise _refused("they build on commits that this repository does not have")


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode()


def _said(err: GitFailed) -> str:
    return escape_terminal(err.words.splitlines()[-1][:300]) if err.words else "no reason given"


def _refused(why: str) -> WorkspaceError:
    return WorkspaceError(
        f"the commits from the box are refused: {why}",
        hint="the files themselves can still be applied with `glovebox apply`",
    )
