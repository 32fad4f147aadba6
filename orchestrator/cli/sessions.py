"""``glovebox sessions``: which there are, and what was said in one."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.sessions_chosen import (
    SHOWN,
    Json,
    OptionalSession,
    cut,
    folder_of,
    show,
    user_paths,
    view_of,
)
from orchestrator.cli.sessions_copy import clone, fork, label
from orchestrator.cli.sessions_export import export
from orchestrator.cli.sessions_hide import hide
from orchestrator.cli.sessions_search import search
from orchestrator.cli.sessions_stats import stats
from orchestrator.cli.sessions_tidy import prune, rm
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import SessionFile, first_words, list_sessions
from orchestrator.sessions.labels import labels_of
from orchestrator.sessions.outline import outline, summary_of

app = typer.Typer(no_args_is_help=True, help="Show, copy, find, count and tidy sessions.")


@app.command("list")
def list_command(
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory they worked on.")] = Path(),
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all directories.")] = False,
    as_json: Json = False,
) -> None:
    """List sessions, the one written last first."""
    paths = user_paths()
    found = list_sessions(folder_of(cd, paths, everywhere=everywhere))
    if as_json:
        rows = [
            {
                **asdict(item.header),
                "file": str(item.path),
                "bytes": item.size,
                "title": first_words(item.path),
            }
            for item in found
        ]
        show(json.dumps({"sessions": rows}))
        return
    for item in found:
        show(cut(escape_terminal(_row(item, with_directory=everywhere))))
    if not found:
        elsewhere = "" if everywhere else " here; --all shows those of other directories"
        sys.stderr.write(f"no sessions{elsewhere}\n")


@app.command("show")
def show_command(session: OptionalSession = None, as_json: Json = False) -> None:
    """Show a session's tree; > marks the conversation as it stands, names in [] are labels."""
    view = view_of(session, user_paths())
    if as_json:
        show(json.dumps({"type": "session", **asdict(view.header)}))
        show(*(json.dumps(asdict(entry)) for entry in view.tree.entries))
        return
    header = view.header
    show(cut(escape_terminal(f"session {header.id}  {header.created}  {header.cwd}")))
    if header.forked_from:
        place = f" at {header.forked_at}" if header.forked_at else ""
        show(cut(escape_terminal(f"copied from session {header.forked_from}{place}")))
    labels = labels_of(view.tree.entries)
    for line in outline(view.tree):
        mark, indent = (">" if line.on_path else " "), "  " * line.depth
        name = f"[{escape_terminal(labels[line.entry.id])}] " if line.entry.id in labels else ""
        summary = f"{name}{escape_terminal(_one_line(summary_of(line.entry)))}"
        show(cut(f"{mark} {indent}{escape_terminal(line.entry.id)}  {line.entry.type}  {summary}"))


app.command("tree", help="The same as show.", hidden=True)(show_command)
for _command in (fork, clone, label, hide, search, stats, export, prune, rm):
    app.command()(_command)


def _row(item: SessionFile, *, with_directory: bool) -> str:
    modified = datetime.fromtimestamp(item.modified, UTC).strftime("%Y-%m-%d %H:%MZ")
    directory = f"{item.header.cwd}  " if with_directory else ""
    origin = f"(copy of {item.header.forked_from}) " if item.header.forked_from else ""
    return f"{item.header.id}  {modified}  {directory}{origin}{_one_line(first_words(item.path))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:SHOWN]
