"""What a person does with a box's changes: look, take, drop. Async over the blocking modes.

Each call holds the session's lock, so that two commands never work on the same changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeVar

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.lease import Lease
from orchestrator.engine.volumes import frozen, running_with
from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.apply import OnStep, Target, commit_changes, finish
from orchestrator.workspace.at_rest import await_rest, rest_word
from orchestrator.workspace.branch import NewCommit, commit_on_branch
from orchestrator.workspace.derived import open_contents
from orchestrator.workspace.git_patch import patch_chunks
from orchestrator.workspace.ignored import with_ignored
from orchestrator.workspace.late_doors import late_door_notes
from orchestrator.workspace.merging import Sides, bring_together, note_outcome
from orchestrator.workspace.node import Change, ChangeSet
from orchestrator.workspace.opening import leave_unused, prepare_workspace
from orchestrator.workspace.patch import PatchForm, Piece, open_patch
from orchestrator.workspace.plan import Left, Plan, Selection, make_plan
from orchestrator.workspace.portions import HunkChoice, note_shown, take_portions
from orchestrator.workspace.record import LEASE, locked
from orchestrator.workspace.repository_base import repository_base
from orchestrator.workspace.script_details import with_script_details
from orchestrator.workspace.snapshots_site import after_apply, before_apply
from orchestrator.workspace.workspace import Prepared, Site, Workspace, WorkspaceSpec

_T = TypeVar("_T")

_FOR_READING = PatchForm()


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did."""

    changes: tuple[Change, ...]
    """Now on the host."""
    left: tuple[Left, ...]
    """Asked for, but still in the box, each with its reason."""
    nothing_left: bool
    """The session has no changes any more; ``drop_emptied`` removes its workspace."""
    rest: str = ""
    """That of the changes, see ``ChangeSet``."""

    @property
    def complete(self) -> bool:
        """True where nothing stayed behind that the person did not allow to."""
        return all(item.asked_for for item in self.left)


async def begin_workspace(
    spec: WorkspaceSpec, *, paths: Paths, engine: Engine
) -> tuple[Workspace, Prepared]:
    """Return a session's workspace, ready to be mounted, as ``opening.prepare_workspace`` does."""
    return await to_thread.run_sync(lambda: prepare_workspace(spec, paths=paths, engine=engine))


async def read_changes(
    workspace: Workspace, sides: Sides | None = None, *, ended: bool = False
) -> ChangeSet:
    """Return what the box changed, merged with the host's newer work where that can be.

    A box that still runs is paused meanwhile. ``ended`` says that nothing runs in it any more,
    whatever the engine has still to tidy.
    """

    def read() -> ChangeSet:
        site = workspace.site
        still = nullcontext() if ended else frozen(site.engine, site.record.volume)
        with locked(site.folder, wait=True), still:
            if ended and site.record.mode == "copy":
                await_rest(site)
            changes = with_script_details(workspace, with_ignored(workspace.changes()))
            late = late_door_notes(site.folder, site.record)
            changes = replace(changes, notes=(*changes.notes, *late))
            return bring_together(
                workspace, changes, sides=sides or Sides(), find=repository_base(workspace)
            )

    return await in_thread(read, workspace.site)


async def read_patch(
    workspace: Workspace, changes: ChangeSet, form: PatchForm = _FOR_READING
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return the patch's lines, raw, and the added and removed lines by path."""

    def read() -> tuple[list[str], dict[str, tuple[int, int]]]:
        with locked(workspace.site.folder, wait=True), open_patch(workspace) as patch:
            if form.numbered:
                note_shown(workspace.site.folder, patch.digests(changes))
            return list(patch.lines(changes, form)), patch.counts(changes)

    if not changes.changes:
        return [], {}
    return await in_thread(read, workspace.site)


async def read_counts(workspace: Workspace, changes: ChangeSet) -> dict[str, tuple[int, int]]:
    """Return the added and removed lines by path."""

    def read() -> dict[str, tuple[int, int]]:
        with locked(workspace.site.folder, wait=True), open_patch(workspace) as patch:
            return patch.counts(changes)

    return await in_thread(read, workspace.site) if changes.changes else {}


async def read_pieces(workspace: Workspace, changes: Iterable[Change]) -> list[Piece]:
    """Return what a person is asked about, change by change."""

    def read() -> list[Piece]:
        with locked(workspace.site.folder, wait=True), open_patch(workspace) as patch:
            return [patch.piece(change) for change in changes]

    return await in_thread(read, workspace.site)


async def apply_changes(
    workspace: Workspace,
    changes: ChangeSet,
    selection: Selection,
    *,
    on_step: OnStep | None = None,
) -> Applied:
    """Bring the selected changes to the host, all or none of those that can go.

    ``changes`` is what the person looked at: content that is another by now is not applied.
    Raises WorkspaceError for conflicts that may not be skipped, and while the box runs.
    """
    plan = make_plan(changes, selection)

    def carry() -> Applied:
        with locked(workspace.site.folder):
            check_ended(workspace.site)
            return _carry(workspace, changes, plan, selection.hunks, on_step=on_step)

    return await in_thread(carry, workspace.site)


async def write_patch(
    workspace: Workspace, changes: ChangeSet, selection: Selection, *, out: BinaryIO
) -> Applied:
    """Write the selected changes as a patch of git; they stay in the box too."""
    plan = make_plan(changes, selection)

    def write() -> Applied:
        with locked(workspace.site.folder):
            going = take_portions(workspace, plan.changes, selection.hunks)
            with open_patch(workspace) as reader:
                out.writelines(patch_chunks(reader, going))
            return Applied(going, plan.left, nothing_left=False)

    return await in_thread(write, workspace.site)


async def commit_changes_to_branch(
    workspace: Workspace, changes: ChangeSet, selection: Selection, *, commit: NewCommit
) -> tuple[str, Applied]:
    """Commit the selected changes onto a new branch, and return its commit's id.

    They stay in the box too. Raises as ``branch.commit_on_branch`` does.
    """
    plan = make_plan(changes, selection)

    def write() -> tuple[str, Applied]:
        with locked(workspace.site.folder):
            check_ended(workspace.site)
            going = take_portions(workspace, plan.changes, selection.hunks)
            made = commit_on_branch(workspace, going, commit)
            return made, Applied(going, plan.left, nothing_left=False)

    return await in_thread(write, workspace.site)


async def drop_emptied(workspace: Workspace, applied: Applied) -> None:
    """Remove the workspace that an apply left empty; the engine may take seconds for it.

    It stays where the session has gone on meanwhile. Whoever is killed in between leaves it to the
    sweep that runs beside the next start.
    """

    def drop() -> None:
        site = workspace.site
        with locked(site.folder):
            try:
                # So that no sweep is at it at the same time.
                lease = Lease.take(site.folder / LEASE)
            except BlockingIOError:
                return
            with closing(lease):
                if running_with(site.engine, site.record.volume):
                    return
                if not _rests(workspace, applied.rest) and workspace.changes():
                    return
                leave_unused(site.folder)
                workspace.remove()

    await in_thread(drop, workspace.site)


async def discard_changes(workspace: Workspace) -> None:
    """Drop the workspace and everything in it; WorkspaceError while the box runs."""

    def drop() -> None:
        with locked(workspace.site.folder):
            check_ended(workspace.site)
            workspace.remove()

    await in_thread(drop, workspace.site)


def target_of(site: Site) -> Target:
    """Return where a workspace's changes are applied."""
    return Target(Path(site.record.directory), site.record.inode, site.folder)


def _carry(
    workspace: Workspace,
    shown: ChangeSet,
    plan: Plan,
    hunks: Mapping[str, HunkChoice],
    *,
    on_step: OnStep | None,
) -> Applied:
    target = target_of(workspace.site)
    going = take_portions(workspace, plan.changes, hunks)
    if going:
        before_apply(workspace.site, going)
        with open_contents(workspace) as content:
            outcome = commit_changes(target, going, content, on_step=on_step)
        workspace.settle(outcome)
        after_apply(workspace.site)
        note_outcome(workspace, outcome)
        finish(target)
    everything = len(plan.changes) == len(shown.changes) and not shown.inside_git
    nothing_left = everything and not _holds_more(workspace, shown, going)
    return Applied(going, plan.left, nothing_left=nothing_left, rest=shown.rest)


def _holds_more(workspace: Workspace, shown: ChangeSet, going: tuple[Change, ...]) -> bool:
    """Say whether a workspace of which everything was applied has changes all the same.

    The box may have run since they were shown: it is looked at again unless it surely did not.
    """
    plain = not any(change.partial or change.merged for change in going)
    return not (plain and _rests(workspace, shown.rest)) and bool(workspace.changes())


def _rests(workspace: Workspace, since: str) -> bool:
    return bool(since) and rest_word(workspace.site) == since


def check_ended(site: Site) -> None:
    """Raise WorkspaceError while the session's box runs."""
    running = running_with(site.engine, site.record.volume)
    if running:
        raise WorkspaceError(
            f"session {site.record.session}: its box still runs ({', '.join(running)})",
            hint=f"end it first: glovebox kill {site.record.session}",
        )


async def in_thread(work: Callable[[], _T], site: Site) -> _T:
    """Run blocking work; an operating system's error becomes one that names the session."""

    def translated() -> _T:
        try:
            return work()
        except OSError as err:
            where = f"{err.filename!r}: " if err.filename else ""
            raise WorkspaceError(
                f"session {SessionId(site.record.session)}: {where}{err.strerror or err}",
                hint="look again with `glovebox diff`; it finishes or undoes an apply that was cut off",
            ) from err

    # Not cancelled half-way: an apply that has begun is finished or undone.
    return await to_thread.run_sync(translated)
