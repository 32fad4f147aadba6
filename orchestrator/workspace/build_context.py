"""A directory as a build context: what an image build of the project gets to see.

Read without ever following a link, as everything of a project is. Times and owners are constants,
so that equal files give equal bytes; whoever consents consents to these bytes.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from orchestrator.engine.builds import DOCKERFILE
from orchestrator.errors import UsageError
from orchestrator.workspace.dockerignore import Ignored, parse_dockerignore
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.tree import Found, Tree, open_tree

MAX_BYTES = 512 * 1024**2
MAX_ENTRIES = 100_000
_MAX_TEXT = 1024**2
_IGNORE = ".dockerignore"


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """What goes into a context."""

    project: Path
    """Absolute, links resolved."""
    folder: str
    """The context's directory in it; reached without following a link."""
    dockerfile: str
    """The text that was shown; packed as ``DOCKERFILE``, wherever it came from."""
    sources: tuple[str, ...] | None
    """Paths that the build copies; None for everything."""
    hidden: tuple[str, ...]
    """Globs of what no box may see."""


def read_text(directory: Path, path: str) -> str | None:
    """Return a text file of a project, None where there is none; UsageError for what is no text."""
    with open_tree(directory) as tree:
        return _text(tree, path)


def pack_build(spec: ContextSpec, into: IO[bytes]) -> list[str]:
    """Write the context as a tar, rewind it, and return the paths in it.

    ``.git`` and hidden paths are left out, whatever ``.dockerignore`` says. Raises UsageError where
    it grows past the limits.
    """
    names: list[str] = []
    size = 0
    with _folder(spec) as tree, tarfile.open(fileobj=into, mode="w") as archive:
        for found in _chosen(tree, spec):
            size += found.stat.st_size if stat.S_ISREG(found.stat.st_mode) else 0
            if size > MAX_BYTES or len(names) >= MAX_ENTRIES:
                raise UsageError(
                    f"build context {spec.project / spec.folder}: more than {MAX_BYTES // 1024**2} MiB or "
                    f"{MAX_ENTRIES} entries",
                    hint="leave out what the build does not need, in .dockerignore",
                )
            _add(archive, tree, found)
            names.append(found.path)
        _add_dockerfile(archive, spec.dockerfile)
    into.seek(0)
    return names


@contextmanager
def _folder(spec: ContextSpec) -> Iterator[Tree]:
    with ExitStack() as stack:
        project = stack.enter_context(open_tree(spec.project))
        try:
            fd = stack.enter_context(project.directory("" if spec.folder == "." else spec.folder))
        except OSError as err:
            raise UsageError(
                f"build context {spec.project / spec.folder}: expected a directory that is reached "
                f"without a link: {err.strerror}"
            ) from err
        yield replace(project, fd=fd)


@contextmanager
def pack_text(dockerfile: str) -> Iterator[IO[bytes]]:
    """Give a context that holds a Dockerfile alone."""
    with io.BytesIO() as into:
        with tarfile.open(fileobj=into, mode="w") as archive:
            _add_dockerfile(archive, dockerfile)
        into.seek(0)
        yield into


def _add_dockerfile(archive: tarfile.TarFile, text: str) -> None:
    data = text.encode()
    entry = tarfile.TarInfo(DOCKERFILE)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def _chosen(tree: Tree, spec: ContextSpec) -> Iterator[Found]:
    ignored = parse_dockerignore(_text(tree, _IGNORE) or "")
    hidden = path_globs(spec.hidden)
    wanted = _wanted(spec)
    # Patterns start at the project, ignore files at the context.
    above = "" if spec.folder == "." else f"{spec.folder}/"

    def is_hidden(path: str) -> bool:
        return ".git" in f"{above}{path}".split("/") or hidden.covers(above + path)

    def leaves_out(path: str) -> bool:
        if is_hidden(path):
            return True
        return path == DOCKERFILE or ignored.leaves_out(path)

    def enter(found: Found) -> bool:
        return _may_hold(found.path, spec, ignored, hidden_out=is_hidden(found.path))

    everything = sorted(tree.walk("", enter=enter), key=lambda found: found.path)
    kept = [found for found in everything if wanted(found.path) and not leaves_out(found.path)]
    # A directory that is left out goes in after all where something in it stays.
    parents = {
        "/".join(parts[:n])
        for f in kept
        for parts in [f.path.split("/")]
        for n in range(len(parts))
    }
    chosen = {found.path for found in kept}
    for found in everything:
        if found.path in chosen or (found.path in parents and stat.S_ISDIR(found.stat.st_mode)):
            yield found


def _wanted(spec: ContextSpec) -> Callable[[str], bool]:
    if spec.sources is None:
        return lambda _path: True
    roots = spec.sources
    return lambda path: any(path == root or path.startswith(f"{root}/") for root in roots)


def _may_hold(path: str, spec: ContextSpec, ignored: Ignored, *, hidden_out: bool) -> bool:
    """Say whether a walk need look into a directory at all."""
    if hidden_out:
        return False
    roots = spec.sources or ()
    leads = any(root.startswith(f"{path}/") for root in roots)
    within = spec.sources is None or any(f"{path}/".startswith(f"{root}/") for root in roots)
    dropped = ignored.leaves_out(path) and not ignored.has_exceptions
    return leads or (within and not dropped)


def _add(archive: tarfile.TarFile, tree: Tree, found: Found) -> None:
    entry = tarfile.TarInfo(found.path)
    mode = found.stat.st_mode
    entry.mode = 0o755 if mode & 0o100 or stat.S_ISDIR(mode) else 0o644
    if stat.S_ISDIR(mode):
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    elif stat.S_ISLNK(mode):
        entry.type, entry.linkname = tarfile.SYMTYPE, tree.read_link(found.path)
        archive.addfile(entry)
    elif stat.S_ISREG(mode):
        with tree.file(found.path) as fd:
            # As large as it is now: one that grows meanwhile is cut, one that shrinks is an error.
            entry.size = os.fstat(fd).st_size
            with os.fdopen(os.dup(fd), "rb") as file:
                archive.addfile(entry, file)


def _text(tree: Tree, path: str) -> str | None:
    if tree.lstat(path) is None:
        return None
    try:
        with tree.file(path) as fd, os.fdopen(os.dup(fd), "rb") as file:
            data = file.read(_MAX_TEXT + 1)
    except OSError as err:
        raise UsageError(f"{tree.root}/{path}: cannot be read: {err.strerror}") from err
    if len(data) > _MAX_TEXT:
        raise UsageError(f"{tree.root}/{path}: expected at most {_MAX_TEXT} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as err:
        raise UsageError(f"{tree.root}/{path}: expected UTF-8 text") from err
