"""``glovebox sessions hide``: a message that the model is told no more, and the session keeps."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from orchestrator.cli.sessions_chosen import Json, session_path, show, tell, user_paths
from orchestrator.errors import UsageError
from orchestrator.schema.codec import decode_message
from orchestrator.sessions.edits import edit_context
from orchestrator.sessions.places import find_entry
from orchestrator.sessions.store import SessionStore


def hide(
    session: Annotated[str, typer.Argument(help="Session id or the beginning of one.")],
    entry: Annotated[str, typer.Argument(help="Message: id, the beginning of one, or its label.")],
    undo: Annotated[bool, typer.Option("--undo", help="Tell it again, as it was.")] = False,
    as_json: Json = False,
) -> None:
    """Have the model read a conversation without one of its messages.

    An answer goes with the results of its calls. The session keeps all of it.
    """
    with SessionStore.open(session_path(session, user_paths())) as store:
        tell(*store.warnings)
        found = find_entry(store.tree, entry)
        if found.type != "message":
            raise UsageError(f"entry {found.id}: expected a message, got {found.type}")
        edit_context(store, found.id, decode_message(found.body) if undo else None)
    if as_json:
        show(json.dumps({"entry": found.id, "hidden": not undo}))
