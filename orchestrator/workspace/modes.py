"""Which mode a workspace really gets, and what the person is told of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import WorkspaceMode


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the choice depends on."""

    engine_local: bool
    """Host paths mean the same to the engine."""
    engine_remaps: bool
    """Uids in the box are other ones on the host: rootless, or user namespaces."""
    owner: int
    """Uid that owns the directory."""
    command_uid: int
    overlay_problem: str = ""
    """Why the directory or the state directory cannot be a layer; empty where they can."""


def choose_mode(requested: WorkspaceMode, facts: HostFacts) -> tuple[WorkspaceMode, str]:
    """Return the mode and a notice, empty where the wish is met.

    Only ``overlay`` has a stand-in that keeps all its promises; ``bind`` is refused instead.
    """
    if requested == "overlay" and (why := _why_no_overlay(facts)):
        return "copy", f"the workspace is a copy, not an overlay: {why}"
    if requested == "bind" and (why := _why_no_bind(facts)):
        raise WorkspaceError(
            f"workspace mode bind: {why}",
            hint="use --workspace copy; what the box changes comes back with `glovebox apply`",
        )
    return requested, ""


def command_ids(caller: tuple[int, int], owner: tuple[int, int]) -> tuple[int, int]:
    """Return uid and gid of the box's commands: the caller's, never 0.

    A caller who is root works as the directory's owner, or as 1000 when root owns that too.
    """
    uid, gid = caller if caller[0] != 0 else owner
    if uid == 0:
        return 1000, 1000
    return uid, gid or uid


def _why_no_overlay(facts: HostFacts) -> str:
    if not facts.engine_local:
        return "the engine is on another machine"
    if facts.engine_remaps:
        return "the engine maps users, so the box could not write to your files' copies"
    if facts.owner == 0:
        return "the directory belongs to root"
    if facts.owner != facts.command_uid:
        return f"the directory belongs to uid {facts.owner}, commands run as {facts.command_uid}"
    return facts.overlay_problem


def _why_no_bind(facts: HostFacts) -> str:
    if not facts.engine_local:
        return "the engine is on another machine"
    if facts.engine_remaps:
        return "the engine maps users, so the box could not write to your files"
    if facts.owner != facts.command_uid:
        return f"the directory belongs to uid {facts.owner}, commands run as {facts.command_uid}"
    return ""
