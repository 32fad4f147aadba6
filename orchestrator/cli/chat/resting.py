"""Commands about files: look at the changes, bring them home, drop them, go back.

Looking is done beside the box. The rest needs the session at rest, and is done after leaving it.
"""

from __future__ import annotations

from functools import partial

from anyio import to_thread

from orchestrator.cli.chat.changes import open_workspace
from orchestrator.cli.chat.surface import Surface
from orchestrator.cli.chat.talk import Leave, Talk
from orchestrator.cli.review import apply_selection
from orchestrator.cli.rewind_list import done_words, rewind_rows
from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.applying import discard_recorded
from orchestrator.harness.resting import UNDO, find_aim, open_resting
from orchestrator.harness.rewind_plan import What, is_target
from orchestrator.harness.rewind_turns import turns_of
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import find_session
from orchestrator.workspace.handover import read_changes, read_patch
from orchestrator.workspace.plan import Selection, make_plan
from orchestrator.workspace.summary import left_lines, summary_lines

WHAT: dict[str, What] = {"files": "files", "conversation": "conversation", "both": "both"}


async def diff(talk: Talk, _: str) -> None:
    """Show the whole diff as it is now."""
    async with open_workspace(talk.paths, talk.session) as workspace:
        changes = await read_changes(workspace)
        lines, counts = await read_patch(workspace, changes)
    talk.surface.diff(lines)
    for line in summary_lines(changes, counts):
        talk.surface.note(line)
    if not changes:
        talk.surface.note("nothing is changed")


async def apply(talk: Talk, words: str) -> Leave | None:
    """Bring the changes home, all or what some globs match; the box ends only where some go."""
    selection = Selection(tuple(words.split()))
    async with open_workspace(talk.paths, talk.session) as workspace:
        changes = await read_changes(workspace)
    if not changes:
        talk.surface.note("no changes wait")
        return None
    plan = make_plan(changes, selection)
    if plan.changes:
        return Leave(partial(_apply, talk.surface, selection))
    talk.surface.note("nothing was applied")
    for line in left_lines(plan.left):
        talk.surface.note(line)
    return None


async def _apply(surface: Surface, selection: Selection, paths: Paths, session: SessionId) -> None:
    await apply_selection(paths, session, surface, selection=selection)


async def discard(talk: Talk, word: str) -> Leave:
    """Drop the changes; only with the word that says so."""
    if word != "yes":
        raise UsageError(
            "/discard: all changes would be dropped, and cannot be had again",
            hint="/diff shows them; /discard yes drops them",
        )
    return Leave(partial(_discard, talk.surface))


async def _discard(surface: Surface, paths: Paths, session: SessionId) -> None:
    async with open_workspace(paths, session) as workspace:
        await discard_recorded(workspace, session, paths=paths)
    surface.note("the changes were dropped")


async def rewind(talk: Talk, words: str) -> Leave | None:
    """Go back to the end of a turn: the one that is named, or chosen from the list."""
    target, what = _wanted(words)
    session = talk.conversation.session
    tree = session.record.store.tree
    await session.history.wait()
    if target is None:
        files, turns = session.history.files, turns_of(tree)
        kept = await to_thread.run_sync(files.snapshots) if files.is_kept else []
        rows = list(rewind_rows(turns, kept))
        chosen = await talk.surface.choose([line for _, line in rows], len(turns) - 1)
        if chosen is None:
            return None
        target = rows[chosen][0]
    # Refused while the box is still up, and not after it was ended for it.
    await find_aim(target, what, tree=tree, files=session.history.files)
    return Leave(partial(_rewind, talk.surface, target, what=what))


def _wanted(words: str) -> tuple[str | None, What]:
    found: What = "both"
    target = None
    for word in words.split():
        if word in WHAT:
            found = WHAT[word]
        elif target is None and (word == UNDO or is_target(word)):
            target = word
        else:
            raise UsageError(
                f"/rewind: expected a turn, a snapshot such as s4, or undo, got {word!r}",
                hint="/rewind TURN [files|conversation]; without a turn they are listed",
            )
    if target == UNDO and found != "both":
        raise UsageError(
            "/rewind undo takes the newest rewind back as it was",
            hint="/rewind undo, with nothing after it",
        )
    return target, found


async def _rewind(
    surface: Surface, target: str, paths: Paths, session: SessionId, *, what: What
) -> None:
    file = find_session(paths.sessions, session).path
    async with open_resting(file, paths) as resting:
        done = await resting.rewind(target, what)
        for notice in (*resting.mended, *done.notices):
            surface.note(escape_terminal(notice))
    surface.note(done_words(done.aim))
    surface.note(f"/rewind undo {'goes there again' if done.aim.undo else 'takes it back'}")
