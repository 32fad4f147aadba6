"""``glovebox sessions fork``, ``clone`` and ``label``: copies of a session, names in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.sessions_chosen import (
    Json,
    OptionalSession,
    existing_directory,
    session_path,
    show,
    tell,
    user_paths,
    view_of,
)
from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.forking import Forked, clone_session, fork_session
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.labels import labels_of, set_label
from orchestrator.sessions.places import after, before, find_entry
from orchestrator.sessions.store import SessionStore
from orchestrator.workspace.pending import waiting_sessions

To = Annotated[
    Path | None,
    typer.Option(
        "--to", metavar="DIR", help="Directory the copy works on; default: the session's."
    ),
]


def fork(
    session: OptionalSession = None,
    before_entry: Annotated[
        str | None,
        typer.Option("--before", metavar="ENTRY", help="Stop before this entry: id or label."),
    ] = None,
    after_entry: Annotated[
        str | None,
        typer.Option("--after", metavar="ENTRY", help="Stop after this one, results included."),
    ] = None,
    to: To = None,
    as_json: Json = False,
) -> None:
    """Copy the conversation as it stands, or up to an entry, into a session of its own.

    The copy begins with a fresh workspace of its directory: changes that wait in the other
    session stay there. Labels come along.
    """
    if before_entry is not None and after_entry is not None:
        raise UsageError("fork: expected one of --before and --after, got both")
    paths = user_paths()
    directory = existing_directory(to, "--to")
    view = view_of(session, paths)
    place = None
    if before_entry is not None:
        place = before(view.tree, find_entry(view.tree, before_entry).id)
    elif after_entry is not None:
        place = after(view.tree, find_entry(view.tree, after_entry).id)
    made = fork_session(view.path, paths, place=place, directory=directory)
    _tell(made, view.header.id, paths, as_json=as_json)


def clone(session: OptionalSession = None, to: To = None, as_json: Json = False) -> None:
    """Copy a session's whole tree, all branches and labels, into one of its own.

    The copy begins with a fresh workspace, as that of `fork` does.
    """
    paths = user_paths()
    directory = existing_directory(to, "--to")
    view = view_of(session, paths)
    _tell(
        clone_session(view.path, paths, directory=directory),
        view.header.id,
        paths,
        as_json=as_json,
    )


def label(
    session: Annotated[str, typer.Argument(help="Session id or the beginning of one.")],
    entry: Annotated[
        str | None, typer.Argument(help="Entry: id, the beginning of one, or its label.")
    ] = None,
    name: Annotated[str | None, typer.Argument(help="The label: one line.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the label away.")] = False,
    as_json: Json = False,
) -> None:
    """Name an entry, take its name away, or list the names.

    A label stands wherever an entry's id does.
    """
    paths = user_paths()
    if entry is None:
        labels = labels_of(view_of(session, paths).tree.entries)
        if as_json:
            show(json.dumps({"labels": labels}))
        else:
            show(*(f"{target}  {escape_terminal(word)}" for target, word in labels.items()))
        return
    if remove == (name is not None):
        raise UsageError(
            "label: expected a name, or --remove", hint="sessions label SESSION ENTRY NAME"
        )
    with SessionStore.open(session_path(session, paths)) as store:
        tell(*store.warnings)
        target = find_entry(store.tree, entry).id
        set_label(store, target, name)
    if as_json:
        show(json.dumps({"entry": target, "label": name}))


def _tell(made: Forked, source: str, paths: Paths, *, as_json: bool) -> None:
    if as_json:
        row = {"session": made.id, "file": str(made.path), "cwd": str(made.directory)}
        show(json.dumps({**row, "forked_from": source, "said": made.said}))
    else:
        show(made.id)
    if made.left_out:
        tell("its last answer is left out: the calls in it have no results yet")
    if not made.directory.is_dir():
        tell(
            f"{made.directory} is not there: `sessions fork --to DIR` makes a copy for another one"
        )
    elif source in waiting_sessions(paths, made.directory):
        tell(
            f"changes of session {source} wait in its own box and are not in the copy; "
            f"`glovebox apply {source}` brings them to the directory, which the copy begins with"
        )
    if made.said and not as_json:
        tell(f"you had said there: {made.said[:400]}")
    tell(f"go on with `glovebox run --resume {made.id} PROMPT`")
