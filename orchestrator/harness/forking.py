"""A session of its own from another one's conversation; the other is only read, and may run.

The copy begins with a fresh workspace of its directory. What the other session changed and nobody
applied stays there: its files belong to its box, and two boxes must not share them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.rewind_plan import JUMP, MARK
from orchestrator.schema.codec import decode_message
from orchestrator.schema.ids import EntryId, SessionId
from orchestrator.schema.message import AssistantMessage, ToolMessage
from orchestrator.sessions.copying import FORK, cloned, forked, own_entries, waits_for_answer
from orchestrator.sessions.entry import FORMAT_VERSION, Entry
from orchestrator.sessions.finding import session_file_name
from orchestrator.sessions.places import Place, before
from orchestrator.sessions.store import write_copy
from orchestrator.sessions.tree import EntryTree
from orchestrator.sessions.view import SessionView

TOLD = (
    "[This conversation was copied from another session and goes on in a fresh box. The workspace "
    "has the files as the person has them now: changes that were made above are there only if the "
    "person took them over. Look before you rely on what was said above.]"
)


@dataclass(frozen=True, slots=True)
class Forked:
    """A session that was made."""

    id: SessionId
    path: Path
    directory: Path
    said: str
    """What the person had said at the place, to be said anew; raw."""
    left_out: bool
    """The last answer is not in it: its calls have no results yet."""


def fork_session(
    source: Path, paths: Paths, *, place: Place | None = None, directory: Path | None = None
) -> Forked:
    """Copy the conversation up to a place, by default as it stands; the file is whole on return.

    ``directory`` is what the copy works on, by default what the session did. Raises SessionError
    for a file that cannot be read or made.
    """
    view = SessionView.open(source)
    wanted = view.tree.leaf if place is None else place.leaf
    leaf = _settled(view.tree, wanted)
    entries = forked(view.tree, leaf, leave_out=_of_its_own)
    made = _Copy(view, entries, leaf, paths, directory)
    return made.write(said="" if place is None else place.text, left_out=leaf != wanted)


def clone_session(source: Path, paths: Paths, *, directory: Path | None = None) -> Forked:
    """Copy the whole tree, all branches, as ``fork_session`` copies one."""
    view = SessionView.open(source)
    entries = cloned(view.tree, leave_out=_of_its_own)
    return _Copy(view, entries, None, paths, directory).write(said="", left_out=False)


def begins_here(tree: EntryTree, *, is_copy: bool) -> bool:
    """Say whether a copy has not run yet: then nothing goes on, no box and no workspace."""
    return is_copy and all(entry.type != "message" for entry in own_entries(tree.entries))


@dataclass(frozen=True, slots=True)
class _Copy:
    """What a session's file is made of."""

    view: SessionView
    entries: tuple[Entry, ...]
    leaf: EntryId | None
    paths: Paths
    directory: Path | None

    def write(self, *, said: str, left_out: bool) -> Forked:
        now = datetime.now(UTC)
        session = SessionId(secrets.token_hex(6))
        directory = self.directory or Path(self.view.header.cwd)
        if not directory.is_absolute():
            raise UsageError(
                f"session {self.view.header.id}: its file has lost which directory it worked on",
                hint="name one with --to DIR",
            )
        mark = Entry(
            EntryId(secrets.token_hex(6)),
            EntryTree(self.entries).leaf,
            "custom",
            now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            {"kind": FORK, "session": self.view.header.id, "entry": self.leaf, "told": TOLD},
        )
        header = replace(
            self.view.header,
            id=session,
            cwd=str(directory),
            created=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            forked_from=self.view.header.id,
            forked_at=self.leaf or "",
            version=FORMAT_VERSION,
        )
        path = self.paths.project_sessions(directory) / session_file_name(now, session)
        write_copy(path, header, (*self.entries, mark))
        return Forked(session, path, directory, said, left_out)


def _of_its_own(entry: Entry) -> bool:
    """Say whether an entry is about what stays behind: questions, snapshots, an origin's mark."""
    kind = entry.body.get("kind") if entry.type == "custom" else None
    return waits_for_answer(entry) or kind in {MARK, JUMP, FORK}


def _settled(tree: EntryTree, leaf: EntryId | None) -> EntryId | None:
    """Return the place before a last answer whose calls have no results: it may be at work."""
    results = 0
    for entry in reversed(tree.path(leaf) if leaf is not None else ()):
        if entry.type != "message":
            continue
        message = decode_message(entry.body)
        if isinstance(message, ToolMessage):
            results += len(message.results)
        elif isinstance(message, AssistantMessage) and results < len(message.tool_calls):
            return before(tree, entry.id).leaf
        else:
            return leaf
    return leaf
