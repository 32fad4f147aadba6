"""A tree as straight pieces: the conversation as it stands, then each branch that was left. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.tree import EntryTree


@dataclass(slots=True)
class Branch:
    """One straight piece of a tree."""

    number: int
    """From 1, which is the conversation as it stands."""
    after: EntryId | None
    """The entry of another branch that it goes on from; None for one from the very beginning."""
    entries: list[Entry] = field(default_factory=list)


def branches_of(tree: EntryTree) -> list[Branch]:
    """Return the branches; every entry but moves of the leaf is in exactly one of them."""
    below: defaultdict[EntryId | None, list[Entry]] = defaultdict(list)
    for entry in tree.entries:
        below[entry.parent].append(entry)
    path = list(tree.path()) if tree.leaf is not None else []
    seen = {entry.id for entry in path}
    found = [Branch(1, None, path)]
    for entry in tree.entries:
        if entry.id in seen or entry.type == "leaf":
            continue
        branch = Branch(len(found) + 1, entry.parent)
        at: Entry | None = entry
        while at is not None:
            branch.entries.append(at)
            seen.add(at.id)
            # The newest child first: that is how the branch stood when it was left.
            rest = [one for one in below[at.id] if one.id not in seen and one.type != "leaf"]
            at = rest[-1] if rest else None
        found.append(branch)
    return found


def starting_at(branches: list[Branch]) -> dict[EntryId | None, list[Branch]]:
    """Return the branches that were left, by the entry that each goes on from."""
    found: defaultdict[EntryId | None, list[Branch]] = defaultdict(list)
    for branch in branches[1:]:
        found[branch.after].append(branch)
    return dict(found)
