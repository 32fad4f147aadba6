"""``glovebox diff`` and ``discard``: what a session changed, and dropping it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from orchestrator.cli.review import shown_line
from orchestrator.config.paths import Paths, paths_from
from orchestrator.engine.client import Engine, connect
from orchestrator.errors import EngineError, GloveboxError, UsageError, WorkspaceError
from orchestrator.harness.applying import discard_recorded
from orchestrator.harness.governing import protected_now
from orchestrator.named_file import real_path
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.commit_set import encode_commits
from orchestrator.workspace.commit_words import waiting_line
from orchestrator.workspace.commits import read_commits
from orchestrator.workspace.handover import read_changes, read_counts, read_patch, read_pieces
from orchestrator.workspace.merging import Sides
from orchestrator.workspace.node import ChangeSet, encode_change
from orchestrator.workspace.opening import drop_workspace, load_workspace
from orchestrator.workspace.patch import PatchForm, Piece
from orchestrator.workspace.pending import session_named, waiting_sessions
from orchestrator.workspace.recover import recover
from orchestrator.workspace.summary import summary_lines
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

Ours = Annotated[
    list[str] | None,
    typer.Option(
        "--ours",
        metavar="GLOB",
        help="Where both sides changed the same lines of a file, keep your directory's.",
    ),
]
Theirs = Annotated[
    list[str] | None,
    typer.Option("--theirs", metavar="GLOB", help="There, take the box's; repeatable."),
]

Everything = Annotated[
    bool, typer.Option("--all", help="Name every change; else long lists are folded.")
]

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_PLAIN = "\x1b[0m"


def diff(
    session: SessionArgument = None,
    cd: Directory = Path(),
    stat: Annotated[bool, typer.Option("--stat", help="Only the list of changes.")] = False,
    everything: Everything = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Exact text for patch tools; unsafe on a terminal.")
    ] = False,
    hunks: Annotated[
        bool, typer.Option("--hunks", help="Number the hunks for `apply --hunk`.")
    ] = False,
    ignored: Annotated[
        bool, typer.Option("--ignored", help="Show the text of what git ignores too.")
    ] = False,
    ours: Ours = None,
    theirs: Theirs = None,
    as_json: Json = False,
) -> int:
    """Show what a session changed.

    A unified diff goes to stdout, what to watch out for to stderr. Where your directory moved on
    since the session began, the diff shows both sides' work brought together.
    """
    if raw and hunks:
        raise UsageError("diff: --raw is for patch tools, --hunks for reading; give one of them")
    if raw and sys.stdout.isatty():
        raise UsageError(
            "diff: --raw would send the box's bytes to this terminal",
            hint="redirect it: glovebox diff --raw > changes.patch",
        )
    with open_place() as place:
        workspace, changes = place.open(session, cd, sides_of(ours, theirs))
        commits = anyio.run(read_commits, workspace, changes)
        code = place.exit_code(0)
        if as_json:
            told = _encode(changes) | {"commits": encode_commits(commits)}
            if hunks:
                pieces = anyio.run(read_pieces, workspace, changes.changes)
                told["hunks"] = [_encode_piece(piece) for piece in pieces if piece.digest]
            print_json(told)
            return code
        waiting = filter(None, [waiting_line(commits)])
        if stat:
            counts = anyio.run(read_counts, workspace, changes)
            show([*summary_lines(changes, counts, everything=everything), *waiting])
            return code
        lines, counts = anyio.run(
            read_patch,
            workspace,
            changes,
            PatchForm(numbered=hunks, overlaps=not raw, ignored=ignored),
        )
    say([*summary_lines(changes, counts, everything=everything), *waiting])
    if raw:
        sys.stdout.buffer.write(
            "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        )
    else:
        show(_coloured(lines))
    return code


def discard(session: SessionArgument = None, cd: Directory = Path()) -> int:
    """Drop a session's changes; they cannot be had again.

    One whose changes cannot be read is dropped as well.
    """
    with open_place(judged=False) as place:
        chosen = place.choose(session, cd)
        try:
            workspace = load_workspace(chosen, paths=place.paths, engine=place.engine)
        except WorkspaceError:
            # Its record is broken: there is nothing to be shown or applied, only to be removed.
            drop_workspace(chosen, paths=place.paths, engine=place.engine)
        else:
            anyio.run(lambda: discard_recorded(workspace, chosen, paths=place.paths))
    show([f"the changes of session {chosen} are dropped"])
    return 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where sessions are looked for."""

    engine: Engine
    paths: Paths
    protected: tuple[str, ...] = ()
    """What installed layers protect now, whatever held when a session began."""
    unreadable: dict[SessionId, GloveboxError] = field(default_factory=dict)
    """Sessions that were passed over, each with its reason."""

    def exit_code(self, code: int) -> int:
        """Return a command's exit code, which tells of any session that was passed over."""
        return code or int(bool(self.unreadable))

    def open(
        self, session: str | None, directory: Path, sides: Sides | None = None
    ) -> tuple[Workspace, ChangeSet]:
        """Return the named session's workspace, or the directory's newest that has changes."""
        if session is None:
            return self._newest(directory, sides)
        return self._read(session_named(self.paths, session), sides)

    def choose(self, session: str | None, directory: Path) -> SessionId:
        """Return the id of what is to be dropped; it need not be readable."""
        if session is not None:
            return session_named(self.paths, session)
        try:
            newest = self._newest(directory)[1].session
        except WorkspaceError:
            if not self.unreadable:
                raise
            return next(iter(self.unreadable))
        # One that cannot be read has something, and is newer than the one that was found.
        return next(iter(self.unreadable), newest)

    def _newest(self, directory: Path, sides: Sides | None = None) -> tuple[Workspace, ChangeSet]:
        """Return the newest session that has changes; one that cannot be read is told of."""
        for session in waiting_sessions(self.paths, directory):
            try:
                workspace, changes = self._read(session, sides)
            except (WorkspaceError, EngineError) as err:
                self.unreadable[session] = err
                say([unreadable_line(session, err)])
                continue
            if changes:
                return workspace, changes
        where = real_path(directory)
        if self.unreadable:
            raise WorkspaceError(
                f"{where}: {len(self.unreadable)} of its sessions cannot be read, and no other has "
                "changes waiting",
                hint="drop one with `glovebox discard` and its id",
            )
        raise WorkspaceError(
            f"{where}: no session has changes waiting",
            hint="name a session, or a directory with --cd",
        )

    def _read(self, session: SessionId, sides: Sides | None) -> tuple[Workspace, ChangeSet]:
        workspace = load_workspace(
            session, paths=self.paths, engine=self.engine, protected=self.protected
        )
        return workspace, anyio.run(read_changes, workspace, sides)


def unreadable_line(session: SessionId, error: GloveboxError) -> str:
    """Return what is told of a session that is passed over, safe to show."""
    why = f"{error.message} ({error.hint})" if error.hint else error.message
    return escape_terminal(
        f"session {session}: its changes cannot be read: {why}; "
        f"`glovebox discard {session}` drops them"
    )


@contextmanager
def open_place(*, judged: bool = True) -> Iterator[Place]:
    """Connect, with whatever a killed apply left mended first.

    ``judged``: changes may reach the host, so installed layers must hold. Dropping them needs none.
    """
    paths = paths_from(os.environ, Path.home())
    protected = protected_now(paths) if judged else ()
    with closing(connect()) as engine:
        say(escape_terminal(line) for line in recover(paths, engine))
        yield Place(engine, paths, protected)


def sides_of(ours: list[str] | None, theirs: list[str] | None) -> Sides:
    """Return the sides as the flags name them."""
    return Sides(tuple(ours or ()), tuple(theirs or ()))


def _encode_piece(piece: Piece) -> dict[str, Any]:
    hunks = [{"number": n, "lines": list(lines)} for n, lines in enumerate(piece.hunks, 1)]
    return {"path": piece.change.path, "digest": piece.digest, "hunks": hunks}


def _encode(changes: ChangeSet) -> dict[str, Any]:
    return {
        "session": changes.session,
        "mode": changes.mode,
        "directory": changes.directory,
        "changes": [encode_change(change) for change in changes.changes],
        "inside_git": changes.inside_git,
        "notes": list(changes.notes),
    }


def _coloured(lines: Iterable[str]) -> Iterable[str]:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in lines:
        shown = shown_line(line)
        paint = _COLOURS.get(line[:1]) if colour else None
        yield f"{paint}{shown}{_PLAIN}" if paint else shown


def show(lines: Iterable[str]) -> None:
    """Print lines, already safe, to stdout."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def say(lines: Iterable[str]) -> None:
    """Print lines, already safe, to stderr."""
    for line in lines:
        sys.stderr.write(f"{line}\n")


def print_json(data: dict[str, Any]) -> None:
    """Print one JSON object to stdout."""
    sys.stdout.write(json.dumps(data) + "\n")
