"""Which session a command of ``glovebox sessions`` is about, and how its texts are printed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.config.paths import Paths, paths_from
from orchestrator.errors import SessionError, UsageError
from orchestrator.named_file import real_path
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import find_session, list_sessions
from orchestrator.sessions.view import SessionView

SHOWN = 160
"""Characters of one line; ``--json`` has all of it."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OptionalSession = Annotated[
    str | None,
    typer.Argument(help="Session id, the beginning of one, or a .jsonl file; default: the newest."),
]


def user_paths() -> Paths:
    """Return where this user's state and configuration live."""
    return paths_from(os.environ, Path.home())


def session_path(prefix: str | None, paths: Paths, *, directory: Path | None = None) -> Path:
    """Return the session that an id, its beginning or a file names, or the directory's newest.

    ``directory`` is the current one where it is not given.
    """
    if prefix is not None and prefix.endswith(".jsonl") and Path(prefix).is_file():
        # What a person names may be a link; what lies among the sessions may not.
        return real_path(Path(prefix))
    if prefix is not None:
        return find_session(paths.sessions, prefix).path
    place = Path.cwd() if directory is None else real_path(directory)
    found = list_sessions(paths.project_sessions(place))
    if not found:
        raise SessionError(
            f"{place}: no session here", hint="glovebox sessions list --all shows others"
        )
    return found[0].path


def view_of(prefix: str | None, paths: Paths, *, directory: Path | None = None) -> SessionView:
    """Read the session; what is damaged, and who has it open, is told on stderr."""
    view = SessionView.open(session_path(prefix, paths, directory=directory))
    tell(*view.warnings)
    if view.holder is not None:
        tell(
            f"process {view.holder.pid} on {view.holder.host} has this session open; "
            "this is how it stood a moment ago"
        )
    return view


def folder_of(cd: Path, paths: Paths, *, everywhere: bool) -> Path:
    """Return the folder of one directory's sessions, or of all."""
    return paths.sessions if everywhere else paths.project_sessions(real_path(cd))


def existing_directory(given: Path | None, flag: str) -> Path | None:
    """Return the directory's real path; UsageError where it is none."""
    if given is None:
        return None
    directory = real_path(given)
    if not directory.is_dir():
        raise UsageError(f"{flag} {given}: expected a directory, found none")
    return directory


def cut(line: str) -> str:
    """Return a line short enough to be read."""
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def show(*lines: str) -> None:
    """Print safe lines."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def tell(*lines: str) -> None:
    """Say raw lines on stderr, escaped."""
    for line in lines:
        sys.stderr.write(f"{escape_terminal(line)}\n")
