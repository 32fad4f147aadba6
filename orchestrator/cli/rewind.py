"""``glovebox rewind``: a session's turns, and the way back to one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.cli.rewind_list import turn_lines
from orchestrator.config.paths import Paths, paths_from
from orchestrator.engine.client import connect
from orchestrator.errors import SessionError, UsageError, WorkspaceError
from orchestrator.harness.rewind_plan import (
    Aim,
    What,
    is_target,
    plan_rewind,
    plan_undo,
)
from orchestrator.harness.rewind_turns import turns_of
from orchestrator.harness.rewinding import RewindDone, finish_rewind, rewind_session
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import find_session, list_sessions
from orchestrator.sessions.store import SessionStore
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.recover import recover
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_words import Snapshot
from orchestrator.workspace.workspace import Workspace

HIDDEN_KINDS = frozenset({"below"})


def rewind(
    first: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]",
            help="Session id or the beginning of one; default: this directory's newest.",
        ),
    ] = None,
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[TURN|SNAPSHOT]",
            help="Where to: a turn's number, 0 for the start, or a snapshot such as s4.",
        ),
    ] = None,
    cd: Annotated[
        Path, typer.Option("--cd", "-C", help="Directory the session worked on.")
    ] = Path(),
    files: Annotated[bool, typer.Option("--files", help="Only the files.")] = False,
    conversation: Annotated[
        bool, typer.Option("--conversation", help="Only the conversation.")
    ] = False,
    both: Annotated[bool, typer.Option("--both", help="Files and conversation (default).")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the newest rewind back.")] = False,
    show_list: Annotated[bool, typer.Option("--list", help="Only show where one can go.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Go back to how a session was at the end of a turn: its files, its conversation or both.

    A number alone is a turn. Without one, the turns are shown. The files as they are now become a
    snapshot first, so a rewind can be taken back with --undo.
    """
    if files + conversation + both > 1:
        raise UsageError("rewind: expected one of --files, --conversation and --both, got more")
    session, target = _sort_out(first, second)
    what: What = "files" if files else "conversation" if conversation else "both"
    with _opened(session, cd) as place:
        if show_list or (target is None and not undo):
            place.show(as_json=as_json)
            return 0
        aim = place.aim_back() if undo else place.aim(str(target), what)
        done = anyio.run(place.carry_out, aim)
        place.tell(done, as_json=as_json)
    return 0


@dataclass(frozen=True, slots=True)
class _Place:
    """One session that does not run, its file open."""

    store: SessionStore
    workspace: Workspace | None
    paths: Paths

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots; none where the session has no workspace, or one without."""
        if self.workspace is None:
            return []
        history = FileHistory(self.workspace)
        return history.snapshots() if history.is_kept else []

    def aim(self, target: str, what: What) -> Aim:
        """Return what the target stands for."""
        if what != "conversation":
            self._require_files()
        return plan_rewind(target, what, tree=self.store.tree, snapshots=self.snapshots())

    def aim_back(self) -> Aim:
        """Return the way back from the newest rewind."""
        aim = plan_undo(self.store.tree)
        if aim.snapshot is not None:
            self._require_files()
        return aim

    def _require_files(self) -> None:
        if self.workspace is None:
            raise WorkspaceError(
                f"session {self.store.header.id}: it has no files in a box any more: nothing was "
                "changed, or all was applied or discarded",
                hint="--conversation goes back without them",
            )
        FileHistory(self.workspace).require_kept()

    async def carry_out(self, aim: Aim) -> RewindDone:
        """Rewind."""
        return await rewind_session(self.store, self.workspace, aim, paths=self.paths)

    def show(self, *, as_json: bool) -> None:
        """Print the turns of the conversation, and the snapshots beside them."""
        turns, snapshots = turns_of(self.store.tree), self.snapshots()
        if as_json:
            shown = [asdict(item) for item in snapshots if item.moment.kind not in HIDDEN_KINDS]
            rows = [asdict(turn) for turn in turns]
            _print(
                [json.dumps({"session": self.store.header.id, "turns": rows, "snapshots": shown})]
            )
            return
        _print(turn_lines(turns, snapshots))
        if self.workspace is not None and snapshots:
            used = FileHistory(self.workspace).used_bytes()
            _say([f"{len(snapshots)} snapshots keep {used / 2**20:.1f} MiB of files"])

    def tell(self, done: RewindDone, *, as_json: bool) -> None:
        """Say what was done, and how to go on or back."""
        session = self.store.header.id
        _say(escape_terminal(notice) for notice in done.notices)
        if done.dropped:
            _say([f"{len(done.dropped)} old snapshots were dropped: they needed too much space"])
        if as_json:
            aim = asdict(done.aim)
            _print([json.dumps({"session": session, **aim, "before": done.before})])
            return
        where = f"the end of turn {done.aim.turn}" if done.aim.turn else "the start"
        words = {"both": "files and conversation are", "files": "the files are"}
        _print([f"{words.get(done.aim.what, 'the conversation is')} back at {where}"])
        _say(
            [
                f"undo it with `glovebox rewind {session} --undo`",
                f"go on with `glovebox run --resume {session} PROMPT`",
            ]
        )


def _sort_out(first: str | None, second: str | None) -> tuple[str | None, str | None]:
    """Return session and target; one word alone may be either."""
    if second is None and first is not None and is_target(first):
        return None, first
    if second is not None and not is_target(second):
        raise UsageError(
            f"rewind: expected a turn's number or a snapshot such as s4, got {second!r}",
            hint="see both with `glovebox rewind --list`",
        )
    return first, second


@contextmanager
def _opened(prefix: str | None, directory: Path) -> Iterator[_Place]:
    """Open a session alone, with whatever was cut off in it mended first."""
    paths = paths_from(os.environ, Path.home())
    store = SessionStore.open(_file_of(prefix, directory, paths))
    try:
        with closing(connect()) as engine:
            _say(escape_terminal(line) for line in recover(paths, engine))
            try:
                workspace = load_workspace(store.header.id, paths=paths, engine=engine)
            except WorkspaceError:
                yield _Place(store, None, paths)
                return
            if anyio.run(lambda: finish_rewind(store, workspace, paths=paths)) is not None:
                _say(["a rewind that was cut off is now finished"])
            yield _Place(store, workspace, paths)
    finally:
        store.close()


def _file_of(prefix: str | None, directory: Path, paths: Paths) -> Path:
    if prefix is not None:
        return find_session(paths.sessions, prefix).path
    found = list_sessions(paths.project_sessions(directory.resolve()))
    if not found:
        raise SessionError(
            f"{directory.resolve()}: no session here",
            hint="name one; glovebox sessions list --all shows others",
        )
    return found[0].path


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stderr.write(f"{line}\n")
