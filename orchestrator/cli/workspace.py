"""``glovebox diff``, ``apply`` and ``discard``: what a session changed, and what becomes of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from orchestrator.cli.review import shown_line
from orchestrator.config.paths import Paths, paths_from
from orchestrator.engine.client import Engine, connect
from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.harness.applying import apply_recorded, discard_recorded
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.handover import Applied, read_changes, read_patch
from orchestrator.workspace.node import ChangeSet, encode_change
from orchestrator.workspace.opening import drop_workspace, load_workspace
from orchestrator.workspace.pending import session_named, waiting_sessions
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.recover import recover
from orchestrator.workspace.summary import left_lines, summary_lines
from orchestrator.workspace.workspace import Workspace

SessionArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[SESSION]",
        help="Session id or the beginning of one; default: this directory's newest with changes.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Directory = Annotated[Path, typer.Option("--cd", "-C", help="Directory the session worked on.")]

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_PLAIN = "\x1b[0m"


def diff(
    session: SessionArgument = None,
    cd: Directory = Path(),
    stat: Annotated[bool, typer.Option("--stat", help="Only the list of changes.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Exact text for patch tools; unsafe on a terminal.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show what a session changed.

    A unified diff goes to stdout, what to watch out for to stderr.
    """
    if raw and sys.stdout.isatty():
        raise UsageError(
            "diff: --raw would send the box's bytes to this terminal",
            hint="redirect it: glovebox diff --raw > changes.patch",
        )
    with _place() as place:
        workspace, changes = place.open(session, cd)
        if as_json:
            _print_json(_encode(changes))
            return 0
        lines, counts = anyio.run(read_patch, workspace, changes)
    summary = list(summary_lines(changes, counts))
    if stat:
        _print(summary)
        return 0
    _say(summary)
    if raw:
        sys.stdout.buffer.write(
            "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        )
    else:
        _print(_coloured(lines))
    return 0


def apply(
    session: SessionArgument = None,
    cd: Directory = Path(),
    path: Annotated[
        list[str] | None, typer.Option("--path", help="Only what this glob matches; repeatable.")
    ] = None,
    include_protected: Annotated[
        bool, typer.Option("--include-protected", help="Apply protected paths too.")
    ] = False,
    skip_conflicts: Annotated[
        bool, typer.Option("--skip-conflicts", help="Leave conflicting files in the box.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Bring a session's changes to the host.

    All of the selected changes are applied or none. Exit code 1 when something that was asked
    for could not be applied.
    """
    selection = Selection(tuple(path or ()), include_protected, skip_conflicts)
    with _place() as place:
        workspace, changes = place.open(session, cd)
        applied = anyio.run(
            lambda: apply_recorded(workspace, changes, selection, paths=place.paths)
        )
    if as_json:
        _print_json(_encode_applied(changes, applied))
    else:
        _say(left_lines(applied.left))
        _print([f"{len(applied.changes)} changes applied to {escape_terminal(changes.directory)}"])
    if not applied.nothing_left:
        _say([f"the rest waits: glovebox diff {changes.session}"])
    return 0 if applied.complete else 1


def discard(session: SessionArgument = None, cd: Directory = Path()) -> int:
    """Drop a session's changes; they cannot be had again."""
    with _place() as place:
        chosen = place.choose(session, cd)
        try:
            workspace = load_workspace(chosen, paths=place.paths, engine=place.engine)
        except WorkspaceError:
            # Its record is broken: there is nothing to be shown or applied, only to be removed.
            drop_workspace(chosen, paths=place.paths, engine=place.engine)
        else:
            anyio.run(lambda: discard_recorded(workspace, chosen, paths=place.paths))
    _print([f"the changes of session {chosen} are dropped"])
    return 0


@dataclass(frozen=True, slots=True)
class _Place:
    """Where sessions are looked for."""

    engine: Engine
    paths: Paths

    def open(self, session: str | None, directory: Path) -> tuple[Workspace, ChangeSet]:
        """Return the named session's workspace, or the directory's newest that has changes."""
        if session is None:
            return self._newest(directory)
        return self._read(session_named(self.paths, session))

    def choose(self, session: str | None, directory: Path) -> SessionId:
        """Return the id alone; a named session's record may be broken."""
        if session is None:
            return self._newest(directory)[1].session
        return session_named(self.paths, session)

    def _newest(self, directory: Path) -> tuple[Workspace, ChangeSet]:
        for session in waiting_sessions(self.paths, directory):
            workspace, changes = self._read(session)
            if changes:
                return workspace, changes
        raise WorkspaceError(
            f"{directory.resolve()}: no session has changes waiting",
            hint="name a session, or a directory with --cd",
        )

    def _read(self, session: SessionId) -> tuple[Workspace, ChangeSet]:
        workspace = load_workspace(session, paths=self.paths, engine=self.engine)
        return workspace, anyio.run(read_changes, workspace)


@contextmanager
def _place() -> Iterator[_Place]:
    """Connect, with whatever a killed apply left mended first."""
    paths = paths_from(os.environ, Path.home())
    with closing(connect()) as engine:
        _say(escape_terminal(line) for line in recover(paths, engine))
        yield _Place(engine, paths)


def _encode(changes: ChangeSet) -> dict[str, Any]:
    return {
        "session": changes.session,
        "mode": changes.mode,
        "directory": changes.directory,
        "changes": [encode_change(change) for change in changes.changes],
        "inside_git": changes.inside_git,
        "notes": list(changes.notes),
    }


def _encode_applied(changes: ChangeSet, applied: Applied) -> dict[str, Any]:
    return {
        "session": changes.session,
        "directory": changes.directory,
        "applied": [encode_change(change) for change in applied.changes],
        "left": [{"path": item.path, "reason": item.reason} for item in applied.left],
        "nothing_left": applied.nothing_left,
    }


def _coloured(lines: Iterable[str]) -> Iterable[str]:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in lines:
        shown = shown_line(line)
        paint = _COLOURS.get(line[:1]) if colour else None
        yield f"{paint}{shown}{_PLAIN}" if paint else shown


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stderr.write(f"{line}\n")


def _print_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
