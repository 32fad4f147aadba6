"""Going on from another place of the conversation's tree, in a session that runs.

Files stay as they are, since what runs in the box knows them; the model is told so. To bring files
back too there is ``rewind``, which needs the session at rest.
"""

from __future__ import annotations

from orchestrator.harness.rewind_plan import JUMP
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.places import Place, after, before
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.tree import EntryTree

TOLD = (
    "[The conversation goes on from an earlier place. Files of the workspace are as they were left, "
    "not as they were then: look before you change them.]"
)


def place_of(target: EntryId, tree: EntryTree) -> Place:
    """Return where the conversation goes on for a chosen entry; UsageError where there is none.

    What the person said is said anew, so its place is before it. An answer that called tools is
    taken with its results, so that no call stands without one.
    """
    entry = tree.by_id.get(target)
    is_said = entry is not None and entry.type == "message" and entry.body["role"] == "user"
    return before(tree, target) if is_said else after(tree, target)


def go_to(store: SessionStore, place: Place) -> None:
    """Move the conversation; on disk on return."""
    was = store.tree.leaf
    store.append("leaf", {"target": place.leaf})
    if place.leaf is not None:
        store.append("custom", {"kind": JUMP, "from": was, "told": TOLD})
    store.sync()
