"""Reads and writes of paths: recorded for policy, and judged by where they land."""

from __future__ import annotations

import re

from orchestrator.schema.decision import Risk
from orchestrator.shell import places
from orchestrator.shell.analysis import Span
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scope import Scope
from orchestrator.shell.setting import Site

_WRITE_RISKS: dict[str, tuple[Risk, str]] = {
    "terminal": ("opaque", "reaches another process's terminal or open file"),
    "socket": ("remote_code", "opens a network connection from the shell"),
    "device": ("destructive", "writes to a device or the kernel"),
    "git": ("persistence", "writes inside .git, where hooks and settings are run later"),
    "startup": ("persistence", "writes a start-up or settings file that is run or trusted later"),
    "system": ("persistence", "writes to a system directory"),
}
_LOCAL_SOCKET = re.compile(r"/dev/(tcp|udp)/(localhost|127(\.\d+){3}|::1)/[^/]*")


def judge_write(shape: str, span: Span, site: Site) -> None:
    """Record a write and report one that outlives the work or leaves it."""
    scope, reading = site.scope, site.reading
    path = scope.absolute(shape)
    probe = path if path is not None else "/" + shape
    if path is not None and DYNAMIC not in path:
        reading.writes.setdefault((path, span))
    kind = places.kind_of(probe)
    if kind not in _WRITE_RISKS or (kind == "system" and _is_own(probe, scope)):
        return
    if kind == "socket":
        _judge_socket(probe, span, site)
    risk, reason = _WRITE_RISKS[kind]
    reading.report(risk, f"{reason}: {shape}", span, severity="high" if kind == "device" else "ask")


def judge_read(shape: str, span: Span, site: Site, *, shows: bool = True) -> None:
    """Record a read and report one of a key; ``shows`` when its content is printed."""
    scope, reading = site.scope, site.reading
    path = scope.absolute(shape)
    probe = path if path is not None else "/" + shape
    if path is not None and DYNAMIC not in path:
        reading.reads.setdefault((path, span))
    if places.is_secret(probe):
        reading.report("secrets", f"reads a key or credential: {shape}", span)
    elif shows and places.is_private(probe):
        reading.report("secrets", f"shows a file that often holds keys: {shape}", span)
    elif places.kind_of(probe) == "socket":
        _judge_socket(probe, span, site)
        reading.report("remote_code", f"opens a network connection from the shell: {shape}", span)
    elif places.kind_of(probe) == "terminal":
        reading.report("opaque", f"reaches another process's terminal or open file: {shape}", span)
    elif path is not None and path.startswith("/dev/sd"):
        reading.report("secrets", f"reads a raw disk: {shape}", span)


def _judge_socket(path: str, span: Span, site: Site) -> None:
    """Report a connection to another machine: opened to read, it can be written to all the same."""
    if _LOCAL_SOCKET.fullmatch(path) is None:
        site.reading.report("upload", f"may send data to another machine: {path}", span)


def judge_unpacking(path: str, span: Span, site: Site) -> None:
    """Report an archive that is unpacked over a home, a system directory or other work."""
    scope = site.scope
    if site.setting.remote or scope.inside(path) or places.kind_of(path) == "own":
        return
    if DYNAMIC not in path:
        site.reading.report("persistence", f"unpacks outside the workspace: {path}", span)


def _is_own(path: str, scope: Scope) -> bool:
    """Say whether a path under a system directory is the workspace or the caller's home."""
    home = scope.places.home.rstrip("/")
    return scope.inside(path) or path == home or path.startswith(home + "/")
