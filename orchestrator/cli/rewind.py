"""``glovebox rewind``: a session's turns, and the way back to one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.cli.rewind_list import done_words, turn_lines
from orchestrator.config.paths import Paths, paths_from
from orchestrator.errors import SessionError, UsageError
from orchestrator.harness.resting import UNDO, RestingSession, open_resting
from orchestrator.harness.rewind_plan import What, is_target
from orchestrator.harness.rewinding import RewindDone
from orchestrator.named_file import real_path
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import find_session, list_sessions

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
    paths = paths_from(os.environ, Path.home())
    file = _file_of(session, cd, paths)

    async def act() -> None:
        async with open_resting(file, paths) as resting:
            _say(escape_terminal(line) for line in resting.mended)
            if show_list or (target is None and not undo):
                await _show(resting, as_json=as_json)
            else:
                done = await resting.rewind(UNDO if undo else str(target), what)
                _tell(resting, done, as_json=as_json)

    anyio.run(act)
    return 0


async def _show(resting: RestingSession, *, as_json: bool) -> None:
    """Print the turns of the conversation, and the snapshots beside them."""
    turns, snapshots = resting.turns(), await resting.snapshots()
    if as_json:
        shown = [asdict(item) for item in snapshots if item.moment.kind not in HIDDEN_KINDS]
        rows = [asdict(turn) for turn in turns]
        _print([json.dumps({"session": resting.id, "turns": rows, "snapshots": shown})])
        return
    _print(turn_lines(turns, snapshots))
    if snapshots:
        used = await resting.used_bytes()
        _say([f"{len(snapshots)} snapshots keep {used / 2**20:.1f} MiB of files"])


def _tell(resting: RestingSession, done: RewindDone, *, as_json: bool) -> None:
    """Say what was done, and how to go on or back."""
    _say(escape_terminal(notice) for notice in done.notices)
    if done.dropped:
        _say([f"{len(done.dropped)} old snapshots were dropped: they needed too much space"])
    if as_json:
        _print([json.dumps({"session": resting.id, **asdict(done.aim), "before": done.before})])
        return
    _print([done_words(done.aim)])
    _say(
        [
            f"{'go there again' if done.aim.undo else 'undo it'} with `glovebox rewind {resting.id} --undo`",
            f"go on with `glovebox run --resume {resting.id} PROMPT`",
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


def _file_of(prefix: str | None, directory: Path, paths: Paths) -> Path:
    if prefix is not None:
        return find_session(paths.sessions, prefix).path
    found = list_sessions(paths.project_sessions(real_path(directory)))
    if not found:
        raise SessionError(
            f"{real_path(directory)}: no session here",
            hint="name one; glovebox sessions list --all shows others",
        )
    return found[0].path


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stderr.write(f"{line}\n")
