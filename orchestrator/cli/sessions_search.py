"""``glovebox sessions search``: what was said, in all sessions of a directory or of all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.sessions_chosen import Json, cut, folder_of, show, tell, user_paths
from orchestrator.errors import SessionError
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import list_sessions
from orchestrator.sessions.search import Query
from orchestrator.sessions.view import SessionView


def search(
    words: Annotated[list[str], typer.Argument(help="Words that all occur in one entry.")],
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory they worked on.")] = Path(),
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all directories.")] = False,
    regex: Annotated[bool, typer.Option("--regex", help="One regular expression.")] = False,
    role: Annotated[
        str | None,
        typer.Option(help="Only what this one said: user, assistant, tool, or an entry's type."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Finds shown.")] = 50,
    as_json: Json = False,
) -> int:
    """Find what was said, thought, called or returned, on any branch; the newest session first.

    Exit code 1 where nothing is found.
    """
    query = Query.of(" ".join(words), regex=regex, role=role)
    rows, more = _find(query, folder_of(cd, user_paths(), everywhere=everywhere), limit)
    if as_json:
        show(json.dumps({"hits": rows, "more": more}))
    for row in () if as_json else rows:
        text = f"{row['session']}  {row['entry']}  {row['role']}: {row['excerpt']}"
        show(cut(escape_terminal(text)))
    if more and not as_json:
        tell("there are more; --limit shows them")
    elif not rows:
        tell("nothing found" if everywhere else "nothing found; --all looks in all directories")
    return 0 if rows else 1


def _find(query: Query, folder: Path, limit: int) -> tuple[list[dict[str, str]], bool]:
    rows: list[dict[str, str]] = []
    for item in list_sessions(folder):
        try:
            view = SessionView.open(item.path)
        except SessionError as error:
            # One that cannot be read must not hide the others.
            tell(error.message)
            continue
        for hit in query.find(view.tree.entries):
            if len(rows) == limit:
                return rows, True
            rows.append(
                {
                    "session": view.header.id,
                    "entry": hit.entry.id,
                    "role": hit.role,
                    "time": hit.entry.time,
                    "excerpt": hit.excerpt,
                }
            )
    return rows, False
