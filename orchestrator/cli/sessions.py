"""``glovebox sessions``: which there are, and what was said in one."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.config.paths import Paths, paths_from
from orchestrator.errors import SessionError
from orchestrator.named_file import real_path
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import (
    SessionFile,
    find_session,
    first_words,
    list_sessions,
)
from orchestrator.sessions.outline import outline, summary_of
from orchestrator.sessions.reading import read_content
from orchestrator.sessions.tree import EntryTree

SHOWN = 160
"""Characters of one line; ``--json`` has all of it."""

app = typer.Typer(no_args_is_help=True, help="List and show sessions.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_command(
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory they worked on.")] = Path(),
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all directories.")] = False,
    as_json: Json = False,
) -> None:
    """List sessions, the one written last first."""
    paths = _paths()
    folder = paths.sessions if everywhere else paths.project_sessions(real_path(cd))
    found = list_sessions(folder)
    if as_json:
        rows = [
            {**asdict(item.header), "file": str(item.path), "title": first_words(item.path)}
            for item in found
        ]
        _print(json.dumps({"sessions": rows}))
        return
    for item in found:
        _print(_cut(escape_terminal(_row(item, with_directory=everywhere))))
    if not found:
        sys.stderr.write("no sessions here; --all shows those of other directories\n")


@app.command("show")
def show_command(
    session: Annotated[
        str | None, typer.Argument(help="Session id or the beginning of one; default: the newest.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a session's tree; > marks the conversation as it stands."""
    path = _session_file(session)
    content = read_content(_bytes_of(path), name=path.name)
    for warning in content.warnings:
        sys.stderr.write(f"{escape_terminal(warning)}\n")
    if as_json:
        _print(json.dumps({"type": "session", **asdict(content.header)}))
        _print(*(json.dumps(asdict(entry)) for entry in content.entries))
        return
    header = content.header
    _print(_cut(escape_terminal(f"session {header.id}  {header.created}  {header.cwd}")))
    for line in outline(EntryTree(content.entries)):
        mark, indent = (">" if line.on_path else " "), "  " * line.depth
        summary = escape_terminal(summary_of(line.entry)[:SHOWN])
        _print(
            _cut(f"{mark} {indent}{escape_terminal(line.entry.id)}  {line.entry.type}  {summary}")
        )


def _session_file(prefix: str | None) -> Path:
    paths = _paths()
    if prefix is not None:
        return find_session(paths.sessions, prefix).path
    found = list_sessions(paths.project_sessions(Path.cwd()))
    if not found:
        raise SessionError(
            f"{Path.cwd()}: no session here", hint="glovebox sessions list --all shows others"
        )
    return found[0].path


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as err:
        raise SessionError(f"{path}: the session cannot be read: {err.strerror}") from err


def _paths() -> Paths:
    return paths_from(os.environ, Path.home())


def _row(item: SessionFile, *, with_directory: bool) -> str:
    modified = datetime.fromtimestamp(item.modified, UTC).strftime("%Y-%m-%d %H:%MZ")
    directory = f"{item.header.cwd}  " if with_directory else ""
    return f"{item.header.id}  {modified}  {directory}{first_words(item.path)[:SHOWN]}"


def _cut(line: str) -> str:
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
