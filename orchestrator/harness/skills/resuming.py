"""The skill that an old session had on: refused under other rules, and before a box is made for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError
from orchestrator.harness.forking import begins_here
from orchestrator.harness.options import RunOptions
from orchestrator.harness.record import session_file
from orchestrator.harness.rewinding import JOURNAL
from orchestrator.harness.skills.past import Past, past_skill
from orchestrator.sessions.view import SessionView
from orchestrator.skills.active import Active, activate
from orchestrator.skills.discover import Catalogue
from orchestrator.tools.registry import BUILTIN_NAMES


def activated(name: str, catalogue: Catalogue, *, tools: Sequence[str]) -> Active:
    """Return a skill switched on over the session's ``tools``; SkillError where it cannot be."""
    return activate(catalogue.get(name), tools=tools, known=BUILTIN_NAMES)


def as_then(past: Past, activate_it: Callable[[str], Active]) -> Active:
    """Return the skill of before, if it is still under the same rules; else SkillError."""
    hint = f"leave it off knowingly with --skill off, or take it as it is: --skill {past.skill}"
    try:
        active = activate_it(past.skill)
    except SkillError as error:
        raise SkillError(
            f"the session had the skill {past.skill} on: {error.message}", hint=hint
        ) from error
    if past.digest != active.skill.digest and past.rules != active.rules:
        raise SkillError(
            f"the session had the skill {past.skill} on: it has other rules now than then",
            hint=hint,
        )
    return active


def check_past(
    options: RunOptions, catalogue: Catalogue, paths: Paths, *, tools: Sequence[str]
) -> None:
    """Raise SkillError for a session that goes on under a skill that is gone or has other rules now.

    Only a look ahead, with no lock: the session decides once it is up, and so where this cannot tell.
    """
    if not (options.resume or options.resume_latest) or options.fork or options.skill is not None:
        return
    view = SessionView.open(session_file(options, paths))
    header = view.header
    elsewhere = bool(header.cwd) and header.cwd != str(options.directory)
    # A rewind that was cut off is finished first, and may lead to another place.
    unfinished = (paths.work(header.id) / JOURNAL).exists()
    if elsewhere or unfinished or begins_here(view.tree, is_copy=bool(header.forked_from)):
        return
    past = past_skill(view.tree.path())
    if past is not None and (past.by == "user" or not options.prompt):
        as_then(past, lambda name: activated(name, catalogue, tools=tools))
