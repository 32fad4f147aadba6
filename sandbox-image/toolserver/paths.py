"""Where a path lands, and whether files may be touched there.

A path without links is opened at once, and the kernel refuses it where it meets one. Any other is
walked component by component from ``/`` with directory handles; links are read and followed here,
never by the kernel. What is opened later is opened beneath a handle that was judged,
so a component that is swapped in between changes nothing. The host's policy judges the same
landing by name before; ``resolved`` in a request holds it, and the two must agree.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from names import raw_name, shown_path
from refusal import Refusal, TakesLongError, from_os_error
from straight import open_straight

SCRATCH = ("/tmp", "/home/agent")
"""The box's own writable places beside the workspace; policy's file rules judge them too."""

NEVER = ("/proc", "/sys", "/dev")
"""Kernel interfaces; no root may open them up."""

MAX_LINKS = 40
"""As many links as the kernel itself follows in one path."""

QUICK_BYTES = 64 * 1024
"""Size of content, or of a directory's own record, up to which an operation takes milliseconds."""

NAME_BYTES = 16
"""The least that a name takes of a directory's record."""

UNKNOWN = sys.maxsize
"""Size of what cannot be told beforehand."""

_HANDLE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Places(Protocol):
    """The part of the server's configuration that file operations use."""

    @property
    def workdir(self) -> str:
        """The workspace; relative paths start here."""

    @property
    def read_roots(self) -> tuple[str, ...]:
        """Further directories that may be read."""

    @property
    def spill_dir(self) -> str:
        """Where the full text of long command output lies."""


class Roots(NamedTuple):
    """The directories, as real paths, below which files may be touched."""

    workdir: str
    writable: tuple[str, ...]
    readable: tuple[str, ...]
    quick: bool = False
    """See ``Place.quick``."""

    @classmethod
    def of(
        cls, places: Places, scratch: tuple[str, ...] = SCRATCH, *, quick: bool = False
    ) -> Roots:
        """Return the roots for a configuration; every writable root is readable."""
        writable = (places.workdir, *scratch)
        readable = (*writable, places.spill_dir, *places.read_roots)
        return cls(places.workdir, writable, readable, quick)

    def check(self, path: bytes, access: str, *, asked: str) -> None:
        """Refuse a landing that is not below a root for ``read`` or ``write``."""
        roots = self.writable if access == "write" else self.readable
        if _below(path, roots) and not _below(path, NEVER):
            return
        landing = shown_path(path)
        via = "" if landing == asked else f" lands at {landing}, which"
        raise Refusal(
            "outside",
            f"{asked}{via} is outside of what may be {'written' if access == 'write' else 'read'} "
            f"({', '.join(dict.fromkeys(roots))})",
        )


class Place(NamedTuple):
    """Where a path lands; handles stay open until the ``with`` of ``land`` ends."""

    path: bytes
    """The landing: no links, no dots."""
    parent: int
    """Handle (O_PATH) of the deepest existing directory above the landing."""
    rest: tuple[bytes, ...]
    """What of the path lies below ``parent``: one name, or more when directories are missing."""
    status: os.stat_result | None
    """The landing's own status; None when nothing is there."""
    quick: bool = False
    """Whether all must be done in milliseconds; see ``bear``."""

    def bear(self, size: int) -> None:
        """Raise TakesLongError where so many bytes are too many to go through."""
        if self.quick and size > QUICK_BYTES:
            raise TakesLongError

    def bear_names(self, count: int) -> None:
        """Raise TakesLongError where a directory has too many names to go through.

        Its record's size alone does not tell: of a merged directory it is that of one layer.
        """
        self.bear(count * NAME_BYTES)

    @property
    def is_folder(self) -> bool:
        """Whether a directory is there."""
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    @property
    def shown(self) -> str:
        """The landing as text."""
        return shown_path(self.path)


class _Step(NamedTuple):
    name: bytes
    handle: int
    status: os.stat_result


@contextmanager
def land(path: bytes) -> Iterator[Place]:
    """Walk an absolute path; refuses endless links and files used as directories."""
    handles: list[int] = []
    try:
        yield _land(path, handles, quick=False)
    finally:
        _close(handles)


@contextmanager
def placed(request: dict[str, Any], roots: Roots, access: str) -> Iterator[Place]:
    """Walk a request's path and refuse it unless it lands where it may and where it was judged."""
    asked = str(request["path"])
    path = absolute(asked, roots)
    handles: list[int] = []
    try:
        place = _land(path, handles, quick=roots.quick)
        roots.check(place.path, access, asked=asked)
        if asked.endswith("/") and not place.is_folder:
            raise Refusal("not_found", f"{asked} ends with a slash but is no directory")
        resolved = request.get("resolved")
        if resolved is not None and resolved != place.shown:
            raise Refusal(
                "moved",
                f"{asked}: landed at {resolved} when it was judged, now at {place.shown}; try again",
            )
        yield place
    except OSError as error:
        raise from_os_error(error, asked) from error
    finally:
        _close(handles)


def landing(asked: str, roots: Roots) -> str:
    """Return where a path lands, as text; what cannot be walked comes back as it was asked.

    Never refuses: the operation itself walks again and does.
    """
    try:
        with land(absolute(asked, roots)) as place:
            return place.shown
    except (OSError, Refusal):
        return os.path.normpath(asked if asked.startswith("/") else f"{roots.workdir}/{asked}")


def absolute(asked: str, roots: Roots) -> bytes:
    """Return the bytes of a shown path, from the workspace on when it is relative."""
    raw = raw_name(asked)
    return raw if raw.startswith(b"/") else os.fsencode(roots.workdir) + b"/" + raw


def _below(path: bytes, roots: tuple[str, ...]) -> bool:
    inside = path + b"/"
    return any(inside.startswith(os.fsencode(root).rstrip(b"/") + b"/") for root in roots)


def _land(path: bytes, handles: list[int], *, quick: bool) -> Place:
    """Return the landing; ``handles`` takes what is to be closed, whatever happens here."""
    return _straight(path, handles, quick=quick) or _walked(path, handles, quick=quick)


def _straight(path: bytes, handles: list[int], *, quick: bool) -> Place | None:
    """Return the landing of a path that has no dots and meets no link; None for any other."""
    whole = path + b"/"
    if b"//" in whole or b"/./" in whole or b"/../" in whole:
        return None
    folder, _, name = path.rpartition(b"/")
    parent = open_straight(folder or b"/")
    if parent is None:
        return None
    handles.append(parent)
    try:
        last = _open_step(name, parent)
    except FileNotFoundError:
        return Place(path, parent, (name,), None, quick)
    handles.append(last.handle)
    if stat.S_ISLNK(last.status.st_mode):
        return None
    return Place(path, parent, (name,), last.status, quick)


def _walked(path: bytes, handles: list[int], *, quick: bool) -> Place:
    missing: list[bytes] = []
    steps = [_open_step(b"/", None)]
    try:
        _walk(path, steps, missing)
    finally:
        handles += [step.handle for step in steps]
    names = [step.name for step in steps[1:]] + missing
    last = steps[-1]
    if missing or len(steps) == 1:
        parent, rest = last.handle, tuple(missing) or (b".",)
    else:
        parent, rest = steps[-2].handle, (last.name,)
    status = None if missing else last.status
    return Place(b"/" + b"/".join(names), parent, rest, status, quick)


def _close(handles: list[int]) -> None:
    for handle in handles:
        os.close(handle)


def _open_step(name: bytes, parent: int | None) -> _Step:
    handle = os.open(name, _HANDLE, dir_fd=parent)
    return _Step(name, handle, os.fstat(handle))


def _walk(path: bytes, steps: list[_Step], missing: list[bytes]) -> None:
    todo = path.split(b"/")[::-1]
    links = 0
    while todo:
        name = todo.pop()
        if name in {b"", b"."}:
            continue
        if not stat.S_ISDIR(steps[-1].status.st_mode):
            raise Refusal("not_found", f"{_shown(steps)} is not a directory")
        if name == b"..":
            _step_up(steps, missing)
        elif missing:
            missing.append(name)
        elif (target := _step_down(name, steps, missing)) is not None:
            links += 1
            if links > MAX_LINKS:
                raise Refusal("not_found", f"{shown_path(path)}: more than {MAX_LINKS} links")
            if target.startswith(b"/"):
                _back_to_root(steps)
            todo += target.split(b"/")[::-1]


def _step_down(name: bytes, steps: list[_Step], missing: list[bytes]) -> bytes | None:
    """Enter one component; return the target instead when it is a link."""
    try:
        step = _open_step(name, steps[-1].handle)
    except FileNotFoundError:
        missing.append(name)
        return None
    if not stat.S_ISLNK(step.status.st_mode):
        steps.append(step)
        return None
    try:
        return os.readlink(b"", dir_fd=step.handle)
    finally:
        os.close(step.handle)


def _step_up(steps: list[_Step], missing: list[bytes]) -> None:
    if missing:
        raise Refusal("not_found", f"{_shown(steps)}/{shown_path(missing[-1])} does not exist")
    if len(steps) > 1:
        os.close(steps.pop().handle)


def _back_to_root(steps: list[_Step]) -> None:
    while len(steps) > 1:
        os.close(steps.pop().handle)


def _shown(steps: list[_Step]) -> str:
    return shown_path(b"/" + b"/".join(step.name for step in steps[1:]))
