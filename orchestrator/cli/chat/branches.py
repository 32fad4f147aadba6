"""Commands about the conversation's tree: look, go back, name, copy, give away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from anyio import to_thread

from orchestrator.cli.chat.talk import Talk
from orchestrator.cli.sessions_export import EXPORT_WARNING, form_of, write_export, written
from orchestrator.errors import UsageError
from orchestrator.harness.forking import fork_session
from orchestrator.harness.giving_away import redaction
from orchestrator.schema.ids import EntryId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.labels import labels_of, set_label
from orchestrator.sessions.outline import outline, summary_of
from orchestrator.sessions.places import before, find_entry, said
from orchestrator.sessions.sharing import shareable
from orchestrator.sessions.tree import EntryTree

WIDTH = 72
"""Characters of one entry in the tree."""
SHORT_ID = 6
SUMMARY = "summary"
SUMMARIES = (
    "go there; nothing is said of what is left behind",
    "go there with a summary of what is left behind",
    "go there with a summary of something in it: name it in the input line",
)
"""What may become of the branch that is left."""
SHOWN = frozenset({"message", "compaction", "branch_summary"})
"""Entries that a person goes on from."""


async def tree(talk: Talk, words: str) -> None:
    """Show the tree and go on from the entry that is chosen, or from the one that is named.

    What is left is summarised where that is asked for: ``ENTRY summary``, with words on what the
    summary is to look at.
    """
    entries = talk.conversation.session.record.store.tree
    word, summary, focus = _wanted(words)
    if word:
        target = find_entry(entries, word).id
    else:
        chosen = await _chosen(talk, entries)
        if chosen is None:
            return
        target = chosen
        if talk.conversation.leaves(target):
            answer = await talk.surface.choose(SUMMARIES, 0)
            if answer is None:
                return
            if answer == len(SUMMARIES) - 1:
                talk.surface.draft(f"/tree {target} {SUMMARY} ")
                return
            summary = answer > 0
    if summary:
        talk.surface.note("summarising what is left behind; Esc stops it")
    text = await talk.conversation.go_to(target, summarise=summary, focus=focus)
    told = "; what was left is summarised" if summary else ""
    talk.surface.note(f"the conversation goes on from there{told}; files are as they are")
    if text:
        talk.surface.draft(text)


def _wanted(words: str) -> tuple[str, bool, str]:
    """Return the entry that is named, and whether and about what a summary is wanted."""
    name, asked, focus = f" {words} ".partition(f" {SUMMARY} ")
    return name.strip(), bool(asked), focus.strip()


async def _chosen(talk: Talk, entries: EntryTree) -> EntryId | None:
    rows = list(tree_rows(entries))
    if not rows:
        talk.surface.note("nothing was said yet")
        return None
    at = max((number for number, row in enumerate(rows) if row[1].startswith(">")), default=0)
    row = await talk.surface.choose([row[1] for row in rows], at)
    return rows[row][0] if row is not None else None


def tree_rows(entries: EntryTree) -> Iterator[tuple[EntryId, str]]:
    """Yield each entry that one can go on from, with its safe line: ``>`` is on the path."""
    labels = labels_of(entries.entries)
    for line in outline(entries):
        if line.entry.type not in SHOWN:
            continue
        mark = ">" if line.on_path else " "
        # Notes of ours stand before what the person said.
        own = said(line.entry)
        words = " ".join((f"user: {own}" if own else summary_of(line.entry)).split())
        cut = words if len(words) <= WIDTH else words[:WIDTH] + "…"
        label = labels.get(line.entry.id)
        name = f"[{label}] " if label else ""
        indent = "  " * line.depth
        row = f"{mark} {line.entry.id[:SHORT_ID]} {indent}{name}{cut}"
        yield line.entry.id, escape_terminal(row)


async def label(talk: Talk, words: str) -> None:
    """Name an entry; the name alone names where the conversation stands, ``-`` takes it away."""
    store = talk.conversation.session.record.store
    first, _, rest = words.partition(" ")
    if not first:
        raise UsageError("/label: expected a name", hint="/label NAME, or /label ENTRY NAME")
    if rest:
        target, name = find_entry(store.tree, first).id, rest.strip()
    else:
        path = [entry for entry in store.tree.path() if entry.type in SHOWN]
        if not path:
            raise UsageError("/label: nothing was said yet")
        target, name = path[-1].id, first
    set_label(store, target, None if name == "-" else name)
    told = "has no name any more" if name == "-" else f"is called {name}"
    talk.surface.note(escape_terminal(f"{target[:SHORT_ID]} {told}"))


async def fork(talk: Talk, word: str) -> None:
    """Copy the conversation into a session of its own, up to an entry or as it stands."""
    record = talk.conversation.session.record
    found = find_entry(record.store.tree, word) if word else None
    place = before(record.store.tree, found.id) if found is not None else None
    made = await to_thread.run_sync(lambda: fork_session(record.file, talk.paths, place=place))
    talk.surface.note(f"session {made.id} goes on from here: glovebox chat --resume {made.id}")


async def export(talk: Talk, word: str) -> None:
    """Write the session without its secrets to a file that is not there yet."""
    store = talk.conversation.session.record.store
    file = _home(word or f"glovebox-{talk.session}.html")
    form = form_of(file)
    shared = await to_thread.run_sync(
        lambda: shareable(
            store.header,
            store.tree.entries,
            redaction(talk.paths, os.environ),
            home=str(Path.home()),
        )
    )
    write_export(file, written(shared, form, only_current=False))
    talk.surface.note(f"{escape_terminal(str(file))}\n{EXPORT_WARNING}")


def _home(word: str) -> Path:
    """Return the path that a word names, as a shell would have it; a home that is nobody's stays."""
    try:
        return Path(word).expanduser()
    except RuntimeError:
        return Path(word)
