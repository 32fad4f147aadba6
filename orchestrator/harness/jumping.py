"""Going on from another place of the conversation's tree, in a session that runs.

Files stay as they are, since what runs in the box knows them; the model is told so. To bring files
back too there is ``rewind``, which needs the session at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.errors import UsageError
from orchestrator.harness.rewind_plan import JUMP
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.tree import EntryTree

TOLD = (
    "[The conversation goes on from an earlier place. Files of the workspace are as they were left, "
    "not as they were then: look before you change them.]"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation can go on."""

    leaf: EntryId | None
    """None is before the first entry."""
    text: str = ""
    """What the person had said there, to be said anew."""


def place_of(target: EntryId, tree: EntryTree) -> Place:
    """Return where the conversation goes on for a chosen entry; UsageError where there is none.

    What the person said is said anew, so its place is before it. An answer that called tools is
    taken with its results, so that no call stands without one.
    """
    entry = tree.by_id.get(target)
    if entry is None:
        raise UsageError(f"entry {target!r}: there is none in this session", hint="see /tree")
    if entry.type == "message" and entry.body["role"] == "user":
        return Place(entry.parent, _said(entry))
    return Place(_results_of(entry, tree))


def go_to(store: SessionStore, place: Place) -> None:
    """Move the conversation; on disk on return."""
    was = store.tree.leaf
    store.append("leaf", {"target": place.leaf})
    if place.leaf is not None:
        store.append("custom", {"kind": JUMP, "from": was, "told": TOLD})
    store.sync()


def _said(entry: Entry) -> str:
    """Return the last text: what stands before it are notes of ours."""
    texts = [part["text"] for part in entry.body["content"] if part["type"] == "text"]
    return str(texts[-1]) if texts else ""


def _results_of(entry: Entry, tree: EntryTree) -> EntryId:
    """Return the results below an answer that called tools, else the entry itself."""
    if entry.type != "message" or entry.body["role"] != "assistant":
        return entry.id
    if not any(part["type"] == "tool_call" for part in entry.body["content"]):
        return entry.id
    for other in tree.entries:
        is_results = other.type == "message" and other.body["role"] == "tool"
        if is_results and other.parent == entry.id:
            return other.id
    return entry.id
