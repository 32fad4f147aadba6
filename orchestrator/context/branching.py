"""What happened on a branch of the conversation that is left, in a few words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.context.dialogue import Files
from orchestrator.context.marks import held
from orchestrator.context.summarising import Summariser
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import visible
from orchestrator.sessions.tree import EntryTree

MOST_WORDS = 199
"""Under 200."""


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """The body of a ``branch_summary`` entry."""

    body: dict[str, Any]


async def summarise_branch(
    tree: EntryTree,
    target: EntryId | None,
    summariser: Summariser,
    *,
    scrub: Callable[[str], str],
    focus: str = "",
) -> BranchSummary | None:
    """Return what was said since the way to ``target`` was left; None where that is nothing.

    ``focus`` is what the person wants kept above all. Nothing is written: the conversation moves first, and the summary then stands at its new place.
    Raises ContextError or ModelError where there is none.
    """
    left = left_behind(tree, target)
    messages = [seen.message for seen in visible(left)]
    if not messages:
        return None
    text, usage = await summariser.branch(messages, focus=focus)
    files = Files().with_calls(messages)
    return BranchSummary(
        {
            "summary": held(scrub(_cut(text))) + files.text(),
            "from": tree.leaf,
            "focus": focus,
            "files": {"read": list(files.read), "modified": list(files.modified)},
            "usage": encode_usage(usage),
            "model": summariser.client.info.id,
        }
    )


def left_behind(tree: EntryTree, target: EntryId | None) -> Sequence[Entry]:
    """Return the entries of the current path that the path to ``target`` has not."""
    kept = {entry.id for entry in tree.path(target)} if target is not None else set()
    return tuple(entry for entry in tree.path() if entry.id not in kept)


def _cut(text: str) -> str:
    """Return at most ``MOST_WORDS`` words, whatever parts them."""
    words = list(re.finditer(r"\S+", text))
    if len(words) <= MOST_WORDS:
        return text
    return f"{text[: words[MOST_WORDS - 1].end()]}…"
